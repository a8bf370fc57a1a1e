// The texts of known rejections, exactly as providers write them. None is about an earlier copy of a transaction, and a text that
// isn't here proves nothing. A missing one only makes an outcome unknown.
//
// <n> is a number, <account> an address, <bytes> binary data in base64; <transaction> and <instruction> are the runtime's errors, <error>
// the name of an instruction's.

/**
 * The lines of a simulation's log: the runtime's own, and those of common programs. Other programs may write anything, so their lines
 * prove nothing.
 */
export const logLines = [
  "Log truncated",
  "Program <account> invoke [<n>]",
  "Program <account> success",
  "Program <account> consumed <n> of <n> compute units",
  "Program consumption: <n> units remaining",
  "Program <account> failed: <instruction>",
  // Without a panic's own line, which has a path of the program.
  ...[
    "Access violation <access> <n> bytes at address <n> (in <section> region)",
    "Access violation in <section> section at address <n> of size <n>",
    "Access violation in stack frame <n> at address <n> of size <n>",
    "Arithmetic overflow",
    "Could not create program address with signer seeds: <instruction>",
    "Hashing too many sequences",
    "Invalid pointer",
    "InvalidAttribute",
    "InvalidLength",
    "Invoked an instruction with data that is too large (<n> > <n>)",
    "Invoked an instruction with too many account info's (<n> > <n>)",
    "Invoked an instruction with too many accounts (<n> > <n>)",
    "Overlapping copy",
    "Program <account> not supported by inner instructions",
    "Program failed to complete: Access violation in <section> section at address <n> of size <n>",
    "Return data too large (<n> > <n>)",
    "SBF program panicked",
    "Too many signers",
    "Unaligned pointer",
    "attempted to execute past the end of the text segment at BPF instruction",
    "attempted to exit root call frame",
    "callx attempted to call outside of the text segment",
    "divide by zero at BPF instruction",
    "division overflow at BPF instruction",
    "exceeded CUs meter at BPF instruction",
    "exceeded max BPF to BPF call depth",
    "invalid BPF instruction",
    "unsupported BPF instruction",
  ].map((reason) => `Program <account> failed: ${reason}`),
  "Program log: Error: memory allocation failed, out of memory",
  "Program return: <account> <bytes>",
  "Program data: <bytes>",
  "Account data size realloc limited to <n> in inner instructions",
  "Instruction references an unknown account <account>",
  "Program is not cached",
  "Program is not deployed",
  "Unknown program <account>",
  "<account>'s signer privilege escalated",
  "<account>'s writable privilege escalated",
  // The System program
  "Allocate: account <derived> already in use",
  "Allocate: requested <n>, max allowed <n>",
  "Allocate: 'to' account <derived> must sign",
  "Assign: account <derived> must sign",
  "Create Account: account <derived> already in use",
  "Create: address <account> does not match derived address <account>",
  "Transfer: 'from' account <account> must sign",
  "Transfer: 'from' address <account> does not match derived address <account>",
  "Transfer: `from` account <account> must sign",
  "Transfer: `from` must not carry data",
  "Transfer: insufficient lamports <n>, need <n>",
  // Without "nonce can only advance once per slot", which the transaction that just advanced it may cause.
  ...["Advance", "Authorize", "Initialize", "Withdraw"].flatMap((what) => [
    `${what} nonce account: Account <account> must be a signer`,
    `${what} nonce account: Account <account> must be writeable`,
    `${what} nonce account: Account <account> must sign`,
    `${what} nonce account: Account <account> state is invalid`,
    `${what} nonce account: insufficient lamports <n>, need <n>`,
  ]),
  // The programs of stakes and lookup tables
  "Program log: <n> is not a recent slot",
  "Program log: Extended lookup table length <n> would exceed max capacity of <n>",
  "Program log: Table address must match derived address: <account>",
  "Program log: Table cannot be closed until it's fully deactivated in <n> blocks",
  ...[
    "Authority account must be a signer",
    "Checking if destination stake is mergeable",
    "Checking if source stake is mergeable",
    "Deactivated tables cannot be extended",
    "Deactivated tables cannot be frozen",
    "ERROR: A signature was required but not found",
    "ERROR: An account's balance was too small to complete the instruction",
    "ERROR: An account's data contents was invalid",
    "ERROR: An account's data was too small",
    "ERROR: An instruction's data contents was invalid",
    "ERROR: Custom program error: <n>",
    "ERROR: The account did not have the expected program id",
    "ERROR: The arguments provided to a program instruction were invalid",
    "ERROR: The instruction expected additional account keys",
    "Empty lookup tables cannot be frozen",
    "Incorrect lookup table authority",
    "Lookup table cannot be the recipient of reclaimed lamports",
    "Lookup table is frozen",
    "Lookup table is full and cannot contain more addresses",
    "Lookup table is not deactivated",
    "Lookup table owner should be the Address Lookup Table program",
    "Merging stake accounts",
    "Must extend with at least one address",
    "Payer account must be a signer",
    "Unable to merge due to metadata mismatch",
    "Unable to merge due to stake deactivation",
    "Unable to merge due to voter mismatch",
  ].map((reason) => `Program log: ${reason}`),
  // The token programs
  "Program log: Create",
  "Program log: CreateIdempotent",
  "Program log: Initialize the associated token account",
  "Program log: Instruction: <operation>",
  "Program log: <extension>Instruction: <operation>",
  "Program log: <extension>Instruction::<operation>",
  "Program log: Please upgrade to SPL Token 2022 for immutable owner support",
  "Program log: Warning: Mint has a permanent delegate, so tokens in this account may be seized at any time",
  "Program log: Calculated fee <n>, received <n>",
  // The deployed program writes it so.
  "Program log: Calculated fee {calculated_fee}, received {fee}",
  ...[
    "<error>",
    "Account does not support specified authority type",
    "Account is frozen",
    "Account not associated with this Mint",
    "An account can only be closed if its withheld fee balance is zero, harvest fees to the mint and try again",
    "Associated address does not match seed derivation",
    "Associated token account owner does not match address derivation",
    "Extension already initialized on this account",
    "Extension does not match the base type provided",
    "Instruction does not support native tokens",
    "Instruction does not support non-native tokens",
    "Invalid Mint",
    "Invalid account state for operation",
    "Invalid instruction",
    "Invalid number of provided signers",
    "Invalid number of required signers",
    "Lamport balance below rent-exempt threshold",
    "Mint has non-zero supply. Burn all tokens before closing the mint",
    "New extension type does not match already existing extensions",
    "No authority exists to perform the desired operation",
    "No memo in previous instruction required for recipient to receive a transfer",
    "Non-native account can only be closed if its balance is zero",
    "Operation overflowed",
    "State is uninitialized",
    "This token mint cannot freeze accounts",
    "Transfer fee exceeds maximum of 10,000 basis points",
    "account or token already in use",
    "decimals different from the Mint decimals",
    "insufficient funds",
    "owner does not match",
    "the total supply of this token is fixed",
  ].map((reason) => `Program log: Error: ${reason}`),
  ...[
    "Account ownership cannot be changed while CPI Guard is enabled",
    "CPI Guard is enabled, and a program attempted to add or change an authority",
    "CPI Guard is enabled, and a program attempted to approve a delegate",
    "CPI Guard is enabled, and a program attempted to burn user funds without using a delegate",
    "CPI Guard is enabled, and a program attempted to close an account without returning lamports to owner",
    "CPI Guard is enabled, and a program attempted to transfer user funds without using a delegate",
    "CPI Guard status cannot be changed in CPI",
    "Calculated fee does not match expected fee",
    "Extension not found in account data",
    "Mint or account is initialized to an invalid combination of extensions",
    "Mint required for this account to transfer tokens, use `transfer_checked` or `transfer_checked_with_fee`",
    "Non-transferable tokens can't be minted to an account without immutable ownership",
    "The owner authority cannot be changed",
    "Transfer is disabled for this mint",
    "Transferring, minting, and burning is paused on this mint",
  ].map((reason) => `Program log: ${reason}`),
  // Exchanges
  "Program log: Error: exceeds desired slippage limit",
  "Program log: ray_log: <bytes>",
  "Program log: Left: <n>",
  "Program log: Right: <n>",
  "Program log: Left:",
  "Program log: Right:",
  "Program log: <n>",
  ...[
    "AmountOutBelowMinimum. Error Number: <n>. Error Message: Amount out below minimum threshold.",
    "BuySlippageBelowMinTokensOut. Error Number: <n>. Error Message: slippage: Too much SOL required to buy the given amount of tokens..",
    "ExceededSlippage. Error Number: <n>. Error Message: Exceeded slippage tolerance.",
    "SlippageExceeded. Error Number: <n>. Error Message: Slippage tolerance exceeded.",
    "SlippageLimitExceeded. Error Number: <n>. Error Message: Slippage limit exceeded.",
    "SlippageToleranceExceeded. Error Number: <n>. Error Message: Slippage tolerance exceeded.",
    "TooLittleOutputReceived. Error Number: <n>. Error Message: Too little output received.",
    "TooLittleSolReceived. Error Number: <n>. Error Message: slippage: Too little SOL received to sell the given amount of tokens..",
    "TooMuchSolRequired. Error Number: <n>. Error Message: slippage: Too much SOL required to buy the given amount of tokens..",
  ].flatMap((error) => [
    `Program log: AnchorError thrown in <file>:<n>. Error Code: ${error}`,
    `Program log: AnchorError occurred. Error Code: ${error}`,
  ]),
  // Anchor
  ...[
    "ConstraintDuplicateMutableAccount. Error Number: 2040. Error Message: A duplicate mutable account constraint was violated.",
    "ConstraintHasOne. Error Number: 2001. Error Message: A has one constraint was violated.",
    "ConstraintMut. Error Number: 2000. Error Message: A mut constraint was violated.",
    "ConstraintOwner. Error Number: 2004. Error Message: An owner constraint was violated.",
    "ConstraintRaw. Error Number: 2003. Error Message: A raw constraint was violated.",
    "ConstraintSeeds. Error Number: 2006. Error Message: A seeds constraint was violated.",
    "ConstraintSigner. Error Number: 2002. Error Message: A signer constraint was violated.",
    "ConstraintTokenMint. Error Number: 2014. Error Message: A token mint constraint was violated.",
    "ConstraintTokenOwner. Error Number: 2015. Error Message: A token owner constraint was violated.",
    "AccountNotInitialized. Error Number: 3012. Error Message: The program expected this account to be already initialized.",
    "AccountNotSigner. Error Number: 3010. Error Message: The given account did not sign.",
    "AccountOwnedByWrongProgram. Error Number: 3007. Error Message: The given account is owned by a different program than expected.",
    "InvalidProgramId. Error Number: 3008. Error Message: Program ID was not as expected.",
  ].flatMap((error) => [
    `Program log: AnchorError caused by account: <role>. Error Code: ${error}`,
    `Program log: AnchorError occurred. Error Code: ${error}`,
  ]),
]

const wordsIn = (text: string): readonly string[] => text.trim().split(/\s+/)

/** The words that may stand in the place of their name. */
export const words = {
  access: ["reading", "writing"],
  section: ["allocated", "heap", "input", "program", "stack", "unallocated", "unknown"],
  operation: wordsIn(`
    AmountToUiAmount Approve ApproveChecked Authorize AuthorizeChecked AuthorizeCheckedWithSeed AuthorizeWithSeed
    Batch Burn BurnChecked Buy CloseAccount CloseLookupTable CreateLookupTable CreateNativeMint Deactivate
    DeactivateDelinquent DeactivateLookupTable DelegateStake Disable Enable ExactOutRoute ExtendLookupTable
    FreezeAccount FreezeLookupTable GetAccountDataSize HarvestWithheldTokensToMint Initialize InitializeAccount
    InitializeAccount2 InitializeAccount3 InitializeChecked InitializeImmutableOwner InitializeMint InitializeMint2
    InitializeMintCloseAuthority InitializeMultisig InitializeMultisig2 InitializeNonTransferableMint
    InitializePermanentDelegate Merge MintTo MintToChecked MoveLamports MoveStake PausableExtension Pause
    PermissionedBurnExtension Reallocate Resume Revoke Route RouteV2 ScaledUiAmountExtension Sell SetAuthority
    SetLockup SetLockupChecked SetTransferFee SharedAccountsExactOutRoute SharedAccountsRoute SharedAccountsRouteV2
    Split Swap Swap2 SwapBaseInput SwapBaseOutput SwapV2 SyncNative ThawAccount Transfer TransferChecked
    TransferCheckedWithFee TwoHopSwap TwoHopSwapV2 UiAmountToAmount UnwrapLamports Update UpdateRate UpdateScale
    Withdraw WithdrawExcessLamports WithdrawWithheldTokensFromAccounts WithdrawWithheldTokensFromMint`),
  extension: wordsIn(`
    CpiGuard DefaultAccountState GroupMemberPointer GroupPointer InterestBearingMint MetadataPointer Pausable
    PermissionedBurn RequiredMemoTransfers ScaledUiAmountMint TransferFee TransferHook`),
  file: [
    "programs/amm/src/instructions/swap_v2.rs",
    "programs/cp-amm/src/instructions/swap/swap_exact_in.rs",
    "programs/cp-amm/src/instructions/swap/swap_exact_out.rs",
    "programs/pump/src/lib.rs",
  ],
  role: wordsIn("authority config market mint owner payer pool position state token_account user vault"),
}

/** The messages of the codes that can prove a rejection. A text in `data` must be one of them, too. */
export const messages = {
  [-32700]: ["Parse error"],
  [-32600]: ["Invalid request", "Invalid Request", "Must be authenticated!"],
  [-32601]: ["Method not found"],
  [-32602]: [
    "Invalid params",
    "expected value at line <n> column <n>",
    "Invalid params: unknown variant `json`, expected one of `base58`, `base64`.",
    "Invalid Request: running preflight check is not supported",
    "Invalid Request: unsupported encoding: json. Supported encodings: base58, base64",
    "invalid base64 encoding: InvalidByte(<n>, <n>)",
    "invalid base64 encoding: InvalidLastSymbol(<n>, <n>)",
    "invalid base64 encoding: InvalidLength(<n>)",
    "invalid base64 encoding: InvalidPadding",
    "invalid transaction: <transaction>",
    ...["solana_sdk::transaction::versioned", "solana_transaction::versioned"].flatMap((crate) => [
      `base64 encoded ${crate}::VersionedTransaction too large: <n> bytes (max: encoded/raw <n>/<n>)`,
      `decoded ${crate}::VersionedTransaction too large: <n> bytes (max: <n> bytes)`,
      `failed to deserialize ${crate}::VersionedTransaction: io error: failed to fill whole buffer`,
      `failed to deserialize ${crate}::VersionedTransaction: io error: unexpected end of file`,
    ]),
    "bundle contains an expired blockhash",
    "bundle contains an invalid blockhash",
    "bundle does not lock any of the tip PDAs",
    "config options are mandatory",
    "skipPreflight must be true",
    "transaction must send a tip of at least <n> lamports to one of the following Helius wallets",
    "Insufficient tip: provided <n> lamports, required <n> lamports",
    "Missing tip: no transfer to tip accounts found",
  ],
  [-32002]: ["Transaction simulation failed", "Transaction simulation failed: <transaction>"],
  [-32003]: ["Transaction signature verification failure", "daily request limit reached - upgrade your account"],
  [-32005]: [
    "Node is behind by <n> slots",
    "Node is unhealthy",
    "Rate limit exceeded",
    "You've exceeded the RPS limit available on the current plan.",
  ],
  [-32006]: [
    "InvalidPublicKey",
    "InvalidRecoveryId",
    "InvalidSignature",
    "InvalidDataOffsets",
    "InvalidInstructionDataSize",
    "InvalidAccountIndex",
    "InstructionError(<n>, Custom(<n>))",
  ].map((reason) => `Transaction precompile verification failure ${reason}`),
  [-32013]: ["Transaction signature length mismatch"],
  [-32015]: [
    "Transaction version (<n>) is not supported by the requesting client. Please try the request again with the following configuration " +
      'parameter: "maxSupportedTransactionVersion": <n>',
  ],
  [-32016]: ["Minimum context slot has not been reached"],
}
