// What real providers, and the servers in front of them, return to sendTransaction when it doesn't succeed. The facts come from
// public source code, documentation, issues and test data.

type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown }
type Row = readonly [
  status: number,
  /** A JSON-RPC error with the request's own id, or the text of a body, in which ID stands for that id. */
  body: RpcError | string,
  proves: "not_submitted" | "not_submitted, retryable" | "unknown",
  why: string,
  headers?: Readonly<Record<string, string>>,
]

/** Rows of responses that prove the same for one reason. Of a JSON-RPC error: its code, message and data. */
const because =
  (proves: Row[2], why: string) =>
  (
    status: number,
    bodies: readonly (string | readonly [code: number, message: string, data?: unknown])[],
    headers: Row[4] = {},
  ): readonly Row[] =>
    bodies.map((body) => {
      if (typeof body === "string") return [status, body, proves, why, headers]
      const [code, message, data] = body
      return [status, { code, message, ...(data !== undefined && { data }) }, proves, why, headers]
    })

const simulated = because("not_submitted", "preflight comes before the node hands a transaction on")
const aboutAccounts = because("not_submitted", "about accounts or instructions of this transaction")
const invalid = because("not_submitted", "no node accepts it")
const unread = because("not_submitted", "the transaction or the parameters weren't used")
const noMethod = because("not_submitted", "no method ran")
const early = because("not_submitted, retryable", "checked before anything was accepted")
const rejected = because("not_submitted", "the status decides")
const limited = because("not_submitted, retryable", "the status decides")

const copy = because("unknown", "an earlier copy exists, or may exist")
const programText = because("unknown", "a text of a program's or the payer's own")
const unlisted = because("unknown", "the code isn't on the list")
const limitCode = because("unknown", "a code proves nothing here")
const otherId = because("unknown", "the id is missing or another one")
const noError = because("unknown", "no JSON-RPC response to this call")
const late = because("unknown", "the front may have passed the call on")

const system = "11111111111111111111111111111111"
const token = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
const noEmptyAccount = "Program log: Error: Non-native account can only be closed if its balance is zero"
const needsMint =
  "Mint required for this account to transfer tokens, use `transfer_checked` or `transfer_checked_with_fee`"
const needsMemo = "No memo in previous instruction required for recipient to receive a transfer"
const stake = "Stake11111111111111111111111111111111111111"
const someone = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"
const amm = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"
const accountProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
const budgetProgram = "ComputeBudget111111111111111111111111111111"

/** A failed preflight as Agave writes it. */
const preflight = (said: string, err: unknown, logs: readonly string[] = [], more: object = {}) => {
  const data = {
    accounts: null,
    err,
    fee: null,
    innerInstructions: null,
    loadedAccountsDataSize: 512,
    loadedAddresses: { readonly: [], writable: [] },
    logs,
    postBalances: null,
    postTokenBalances: null,
    preBalances: [1_000_000, 0, 1],
    preTokenBalances: null,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: 4100,
    ...more,
  }
  return [-32002, `Transaction simulation failed: ${said}`, data] as const
}
const instruction = (said: string, err: unknown, logs: readonly string[] = [], more: object = {}) =>
  preflight(`Error processing Instruction 0: ${said}`, { InstructionError: [0, err] }, logs, more)

/** What the virtual machine and its system calls say of a program that they stop. */
const runtimeFailures = [
  "Access violation writing 1 bytes at address 0x300008000 (in unallocated region)",
  "Access violation reading 8 bytes at address 0x400000010 (in input region)",
  "Access violation in stack frame 5 at address 0x200005ff8 of size 8",
  "Arithmetic overflow",
  "Could not create program address with signer seeds: Length of the seed is too long for address generation",
  "Could not create program address with signer seeds: Provided seeds do not result in a valid address",
  "Hashing too many sequences",
  "Invalid pointer",
  "InvalidAttribute",
  "InvalidLength",
  "Invoked an instruction with data that is too large (10241 > 10240)",
  "Invoked an instruction with too many account info's (129 > 128)",
  "Invoked an instruction with too many accounts (256 > 255)",
  "Overlapping copy",
  `Program ${amm} not supported by inner instructions`,
  "Return data too large (2048 > 1024)",
  "SBF program panicked",
  "Too many signers",
  "Unaligned pointer",
  "attempted to execute past the end of the text segment at BPF instruction",
  "attempted to exit root call frame",
  "callx attempted to call outside of the text segment",
  "divide by zero at BPF instruction",
  "division overflow at BPF instruction",
  "exceeded max BPF to BPF call depth",
  "invalid BPF instruction",
  "unsupported BPF instruction",
]

/** A program's own error, with its logs. */
const custom = (program: string, code: number, lines: readonly string[], more = {}, before: readonly string[] = []) => {
  const failure = `custom program error: 0x${code.toString(16)}`
  const consumed = `Program ${program} consumed 4100 of 200000 compute units`
  const logs = [...before, `Program ${program} invoke [1]`, ...lines, consumed, `Program ${program} failed: ${failure}`]
  return instruction(failure, { Custom: code }, logs, more)
}
/** A swap that the price ran away from. */
const slipped = (operation: string, said: string, code: number, lines: readonly string[] = []) =>
  custom(amm, code, [`Program log: Instruction: ${operation}`, `Program log: AnchorError ${said}`, ...lines])

const html = (title: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>`
const page = { "content-type": "text/html" }

export const families: Readonly<Record<string, readonly Row[]>> = {
  "Agave, transaction errors": [
    ...simulated(200, [
      preflight("Blockhash not found", "BlockhashNotFound"),
      preflight("Attempt to debit an account but found no record of a prior credit.", "AccountNotFound"),
      preflight("Insufficient funds for fee", "InsufficientFundsForFee"),
      preflight("Transaction results in an account (1) with insufficient funds for rent", {
        InsufficientFundsForRent: { account_index: 1 },
      }),
      preflight("This account may not be used to pay transaction fees", "InvalidAccountForFee"),
      preflight("Transaction did not pass signature verification", "SignatureFailure"),
      preflight("Attempt to load a program that does not exist", "ProgramAccountNotFound"),
      preflight("Transaction locked too many accounts", "TooManyAccountLocks"),
      preflight("Transaction loads an address table account that doesn't exist", "AddressLookupTableNotFound"),
      preflight("Transaction exceeded max loaded accounts data size cap", "MaxLoadedAccountsDataSizeExceeded"),
      preflight("Transaction would exceed max Block Cost Limit", "WouldExceedMaxBlockCostLimit"),
      preflight("Execution of the program referenced by account at index 3 is temporarily restricted.", {
        ProgramExecutionTemporarilyRestricted: { account_index: 3 },
      }),
      preflight("Sum of account balances before and after transaction do not match", "UnbalancedTransaction"),
      preflight("Program cache hit max limit", "ProgramCacheHitMaxLimit"),
      preflight("Transaction loads a writable account that cannot be written", "InvalidWritableAccount"),
      preflight("Transactions are currently disabled due to cluster maintenance", "ClusterMaintenance"),
      [-32002, "Transaction simulation failed"],
    ]),
    ...aboutAccounts(200, [
      preflight("Account loaded twice", "AccountLoadedTwice"),
      preflight("Transaction contains a duplicate instruction (1) that is not allowed", { DuplicateInstruction: 1 }),
    ]),
    ...copy(200, [
      preflight("This transaction has already been processed", "AlreadyProcessed"),
      [-32002, "Preflight failed", preflight("", "AlreadyProcessed")[2]],
      [-32002, "Transaction simulation failed: This transaction has already been processed"],
      // A copy in progress may hold the account.
      preflight("Account in use", "AccountInUse"),
      // When it comes isn't documented.
      preflight("CommitCancelled", "CommitCancelled"),
    ]),
  ],
  "Agave, instruction errors": [
    ...simulated(200, [
      custom(system, 1, ["Transfer: insufficient lamports 99995000, need 9000000000"]),
      custom(amm, 30, [
        "Program log: ray_log: A8CWmAAAAAAAAAAAAAAAAAACAAAAAAAAAMCWmAAAAAAAuBkSOhQBAAD8wHJlVQAAAA==",
        "Program log: Error: exceeds desired slippage limit",
      ]),
      instruction("Provided owner is not allowed", "IllegalOwner", [
        `Program ${accountProgram} invoke [1]`,
        "Program log: CreateIdempotent",
        "Program log: Please upgrade to SPL Token 2022 for immutable owner support",
        `Program return: ${token} pQAAAAAAAAA=`,
        "Program log: Error: Associated token account owner does not match address derivation",
        `Program ${accountProgram} consumed 7338 of 200000 compute units`,
        `Program ${accountProgram} failed: Provided owner is not allowed`,
      ]),
      custom(
        token,
        1,
        ["Program log: Error: insufficient funds"],
        { returnData: { programId: token, data: ["pQAAAAAAAAA=", "base64"] } },
        [`Program ${budgetProgram} invoke [1]`, `Program ${budgetProgram} success`],
      ),
      instruction("Computational budget exceeded", "ComputationalBudgetExceeded", [
        `Program ${amm} invoke [1]`,
        `Program ${amm} consumed 200000 of 200000 compute units`,
        `Program ${amm} failed: exceeded CUs meter at BPF instruction`,
        "Log truncated",
      ]),
      instruction("Program failed to complete", "ProgramFailedToComplete", [
        `Program ${amm} invoke [1]`,
        `Program data: QMbN6CYIceIAypo7AAAAAA== vdt/007mYe4=`,
        `Program ${amm} failed: Access violation in heap section at address 0x300008000 of size 8`,
      ]),
      ...runtimeFailures.map((said) =>
        instruction("Program failed to complete", "ProgramFailedToComplete", [
          `Program ${amm} invoke [1]`,
          `Program ${amm} failed: ${said}`,
        ]),
      ),
      instruction("Program failed to complete", "ProgramFailedToComplete", [
        "Program log: Error: memory allocation failed, out of memory",
        `Program ${amm} failed: SBF program panicked`,
      ]),
      instruction("Failed to reallocate account data", "InvalidRealloc", [
        "Account data size realloc limited to 10240 in inner instructions",
      ]),
      instruction("Unsupported program id", "UnsupportedProgramId", ["Program is not cached"]),
      instruction("An account required by the instruction is missing", "MissingAccount", [
        `Instruction references an unknown account ${someone}`,
      ]),
      instruction("Failed to serialize or deserialize account data: Unknown", { BorshIoError: "Unknown" }, [
        `Program ${amm} failed: Failed to serialize or deserialize account data: Unknown`,
      ]),
      instruction("Failed to serialize or deserialize account data", "BorshIoError"),
      instruction("instruction modified data of a read-only account", "ReadonlyDataModified"),
      instruction("instruction spent from the balance of an account it does not own", "ExternalAccountLamportSpend"),
      instruction("Cross-program invocation with unauthorized signer or writable account", "PrivilegeEscalation"),
    ]),
    ...aboutAccounts(200, [
      custom(system, 0, [`Allocate: account Address { address: ${someone}, base: None } already in use`]),
      custom(token, 6, [
        "Program log: Instruction: InitializeAccount3",
        "Program log: Error: account or token already in use",
      ]),
      instruction("instruction requires an uninitialized account", "AccountAlreadyInitialized", [
        `Program ${token} invoke [1]`,
        `Program ${token} failed: instruction requires an uninitialized account`,
      ]),
      custom(amm, 3012, [
        "Program log: Instruction: Swap",
        "Program log: AnchorError caused by account: pool. Error Code: AccountNotInitialized. Error Number: 3012. Error Message: The program expected this account to be already initialized.",
      ]),
      custom(amm, 2040, [
        "Program log: AnchorError caused by account: vault. Error Code: ConstraintDuplicateMutableAccount. Error Number: 2040. Error Message: A duplicate mutable account constraint was violated.",
      ]),
      instruction(
        "instruction tries to borrow reference for an account which is already borrowed",
        "AccountBorrowFailed",
      ),
    ]),
    ...programText(200, [
      instruction("Program failed to complete", "ProgramFailedToComplete", [
        `Program ${amm} invoke [1]`,
        "Program log: panicked at 'called `Result::unwrap()` on an `Err` value: InvalidAccountData', src/processor.rs:88:9",
        `Program data: QMbN6CYIceIAypo7AAAAAA== vdt/007mYe4=`,
        `Program ${amm} failed: Program failed to complete: Access violation in heap section at address 0x300008000 of size 8`,
      ]),
      custom(amm, 6001, ["Program log: Error Message: This drop was already claimed."]),
      instruction("Program failed to complete", "ProgramFailedToComplete", [
        `Program ${amm} failed: SBF program Panicked in programs/already-claimed/src/lib.rs at 168:9`,
      ]),
      instruction("custom program error: 0x1", { Custom: 1 }, [
        "Program MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr invoke [1]",
        'Program log: Memo (len 10): "invoice-42"',
      ]),
    ]),
  ],
  "Agave, token programs": simulated(200, [
    custom(token, 18, ["Program log: Error: decimals different from the Mint decimals"]),
    custom(token, 11, ["Program log: Instruction: CloseAccount", noEmptyAccount]),
    instruction("invalid account data for instruction", "InvalidAccountData", [
      "Program log: Error: InvalidAccountData",
    ]),
    custom(token2022, 31, [
      "Program log: TransferFeeInstruction: TransferCheckedWithFee",
      "Program log: Calculated fee 5, received 1",
      "Program log: Calculated fee does not match expected fee",
    ]),
    custom(token2022, 30, [`Program log: ${needsMint}`]),
    custom(token2022, 36, ["Program log: Instruction: TransferChecked", `Program log: Error: ${needsMemo}`]),
    custom(token2022, 37, ["Program log: Transfer is disabled for this mint"]),
    custom(token2022, 67, ["Program log: Transferring, minting, and burning is paused on this mint"]),
    custom(token2022, 4, ["Program log: PausableInstruction::Pause", "Program log: Error: owner does not match"]),
    instruction("Provided seeds do not result in a valid address", "InvalidSeeds", [
      "Program log: Error: Associated address does not match seed derivation",
    ]),
  ]),
  "Agave, System program": simulated(200, [
    custom(system, 0, [`Create Account: account Address { address: ${someone}, base: Some(${amm}) } already in use`]),
    custom(system, 3, ["Allocate: requested 999999999, max allowed 10485760"]),
    custom(system, 5, [`Create: address ${someone} does not match derived address ${amm}`]),
    instruction("missing required signature for instruction", "MissingRequiredSignature", [
      `Allocate: 'to' account Address { address: ${someone}, base: None } must sign`,
    ]),
    instruction("Cross-program invocation with unauthorized signer or writable account", "PrivilegeEscalation", [
      `${someone}'s writable privilege escalated`,
    ]),
    instruction("insufficient funds for instruction", "InsufficientFunds", [
      `Program ${system} success`,
      "Initialize nonce account: insufficient lamports 1000000, need 1447680",
    ]),
    instruction("missing required signature for instruction", "MissingRequiredSignature", [
      `Advance nonce account: Account ${someone} must be a signer`,
    ]),
  ]),
  "Agave, a nonce that just advanced": copy(200, [
    custom(system, 7, ["Advance nonce account: nonce can only advance once per slot"]),
  ]),
  "Agave, stakes and lookup tables": simulated(200, [
    instruction("insufficient funds for instruction", "InsufficientFunds", [
      "Program log: Instruction: DelegateStake",
      "Program log: ERROR: An account's balance was too small to complete the instruction",
    ]),
    custom(stake, 6, [
      "Program log: Instruction: Merge",
      "Program log: Checking if destination stake is mergeable",
      "Program log: Checking if source stake is mergeable",
      "Program log: Merging stake accounts",
      "Program log: Unable to merge due to voter mismatch",
      "Program log: ERROR: Custom program error: 0x6",
    ]),
    instruction("invalid instruction data", "InvalidInstructionData", [
      "Program log: Instruction: CreateLookupTable",
      "Program log: 343112 is not a recent slot",
      "Program log: Error: InvalidInstructionData",
    ]),
    instruction("Invalid account owner", "InvalidAccountOwner", [
      "Program log: Instruction: ExtendLookupTable",
      "Program log: Lookup table owner should be the Address Lookup Table program",
      "Program log: Error: InvalidAccountOwner",
    ]),
  ]),
  "Agave, swaps past their slippage": simulated(200, [
    slipped(
      "RouteV2",
      "occurred. Error Code: SlippageToleranceExceeded. Error Number: 6001. Error Message: Slippage tolerance exceeded.",
      6001,
    ),
    slipped(
      "Buy",
      "thrown in programs/pump/src/lib.rs:444. Error Code: TooMuchSolRequired. Error Number: 6002. Error Message: slippage: Too much SOL required to buy the given amount of tokens..",
      6002,
      ["Program log: Left: 7000000", "Program log: Right: 11425995"],
    ),
    slipped(
      "SwapV2",
      "thrown in programs/amm/src/instructions/swap_v2.rs:362. Error Code: TooLittleOutputReceived. Error Number: 6022. Error Message: Too little output received.",
      6022,
    ),
    slipped(
      "TwoHopSwap",
      "occurred. Error Code: AmountOutBelowMinimum. Error Number: 6036. Error Message: Amount out below minimum threshold.",
      6036,
    ),
    slipped(
      "Swap2",
      "thrown in programs/cp-amm/src/instructions/swap/swap_exact_out.rs:48. Error Code: ExceededSlippage. Error Number: 6002. Error Message: Exceeded slippage tolerance.",
      6002,
    ),
  ]),
  "Agave, other RPC errors": [
    ...invalid(200, [
      [-32003, "Transaction signature verification failure"],
      [-32006, "Transaction precompile verification failure InvalidInstructionDataSize"],
      [-32006, "Transaction precompile verification failure InvalidAccountIndex"],
      [-32006, "Transaction precompile verification failure InstructionError(0, Custom(0))"],
      [-32013, "Transaction signature length mismatch"],
      [-32602, "invalid transaction: Transaction failed to sanitize accounts offsets correctly"],
      [-32602, "invalid transaction: Transaction address table lookup uses an invalid index"],
    ]),
    ...early(200, [
      [-32005, "Node is behind by 206 slots", { numSlotsBehind: 206 }],
      [-32005, "Node is unhealthy", { numSlotsBehind: null }],
      [-32016, "Minimum context slot has not been reached", { contextSlot: 447286173 }],
    ]),
    ...unread(200, [
      [
        -32015,
        'Transaction version (1) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 1',
      ],
      [
        -32602,
        "failed to deserialize solana_transaction::versioned::VersionedTransaction: io error: failed to fill whole buffer",
      ],
      [
        -32602,
        "base64 encoded solana_transaction::versioned::VersionedTransaction too large: 1700 bytes (max: encoded/raw 1644/1232)",
      ],
      [-32602, "invalid base64 encoding: InvalidByte(0, 42)"],
      [-32602, "Invalid params: unknown variant `json`, expected one of `base58`, `base64`."],
    ]),
    ...noMethod(200, [
      [-32601, "Method not found"],
      [-32600, "Invalid request"],
    ]),
    ...unlisted(200, [
      [-32603, "Internal error"],
      [-32004, "Block not available for slot 447286173"],
      [-32014, "Block status not yet available for slot 447286173"],
      [-32007, "Slot 1 was skipped, or missing due to ledger jump to recent snapshot"],
    ]),
    ...otherId(200, ['{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}']),
    ...rejected(405, ["Used HTTP Method is not allowed. POST or OPTIONS is required\n"]),
    ...rejected(415, ["Supplied content type is not allowed. Content-Type: application/json is required\n"]),
    ...rejected(413, [""]),
  ],
  "Solana public endpoints": [
    ...limited(
      429,
      ['{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests for a specific RPC call"},"id":ID}'],
      { "retry-after": "10" },
    ),
    ...rejected(403, [
      [403, "Your IP or provider is blocked from this endpoint"],
      '{"jsonrpc":"2.0","error":{"code":403,"message":"Access forbidden"},"id":null}',
    ]),
    ...limitCode(200, [[429, "Too many requests for a specific RPC call"]]),
  ],
  "Helius RPC": [
    ...rejected(401, ['{"jsonrpc":"2.0","error":{"code":-32401,"message":"invalid api key provided"}}']),
    ...limited(429, [
      [-32429, "max usage reached"],
      [-32429, "rate limited"],
    ]),
    ...limitCode(200, [[-32429, "max usage reached"]]),
    ...noError(200, ["max usage reached"]),
  ],
  "Helius Sender and Atlas": [
    ...noError(400, ["transaction must send a tip of at least 200000 lamports to one of the following Helius wallets"]),
    ...unread(400, [
      [-32602, "transaction must send a tip of at least 200000 lamports to one of the following Helius wallets"],
    ]),
    ...late(500, ["running preflight check is not supported"]),
    ...unlisted(200, [[-32010, "Invalid Request: running preflight check is not supported"]]),
  ],
  "Astralane Iris": [
    ...copy(200, [[-32602, "Invalid Request: duplicate transaction"]]),
    ...copy(400, [[-32602, "Invalid Request: duplicate transaction"]]),
    ...unread(200, [
      [-32602, "Invalid Request: running preflight check is not supported"],
      [-32602, "Invalid Request: unsupported encoding: json. Supported encodings: base58, base64"],
    ]),
  ],
  "Jito block engine": [
    ...copy(200, [[-32602, "bundle contains an already processed transaction"]]),
    ...copy(400, [
      [-32602, "bundle contains an already processed transaction", null],
      [-32602, "bundles must not contain any duplicate transactions and every transaction must be signed"],
    ]),
    ...unread(400, [
      [-32602, "bundle contains an expired blockhash"],
      [-32602, "bundle contains an invalid blockhash"],
      [-32602, "bundle does not lock any of the tip PDAs"],
    ]),
    ...limited(429, [
      '{"jsonrpc":"2.0","error":{"code":-32097,"message":"Network congested. Endpoint is globally rate limited.","data":null},"id":null}',
      [-32097, "Rate limit exceeded. Limit: 1 per second for txn requests. Back-off triggered: Retry after 1606ms"],
    ]),
    ...unlisted(400, [[-32603, "transaction has too many account locks"]]),
    ...unlisted(200, [[-32097, "Network congested. Endpoint is globally rate limited."]]),
  ],
  QuickNode: [
    ...limited(429, [
      [429, "The requests per second (RPS) of your requests are higher than your plan allows."],
      '{"code":-32007,"message":"300/second request limit reached - reduce calls per second or upgrade your account at quicknode.com"}',
    ]),
    ...unlisted(200, [[-32007, "50/second request limit reached - reduce calls per second"]]),
    // The limit came first.
    ...unread(200, [[-32003, "daily request limit reached - upgrade your account"]]),
    ...rejected(401, ["Unauthorized"]),
    ...rejected(404, ["Not Found"]),
  ],
  Alchemy: [
    ...limited(429, [
      [
        429,
        "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.",
      ],
      [429, "Monthly capacity limit exceeded"],
    ]),
    ...limitCode(200, [[429, "Monthly capacity limit exceeded"]]),
    ...rejected(403, [[-32600, "SOLANA_MAINNET is not enabled for this app"]]),
    ...rejected(401, [[-32600, "Must be authenticated!"]]),
    ...otherId(200, ['{"jsonrpc":"2.0","error":{"code":-32002,"message":"Transaction simulation failed"}}']),
  ],
  "Triton, RPC pool and Jet": [
    ...limited(429, [
      [429, "Too requests for a specific RPC call, contact your app developer or support@rpcpool.com."],
    ]),
    ...unlisted(200, [
      [-32603, "preflight check is not supported"],
      [-32603, "invalid transaction: transaction size 1300 exceeds maximum allowed size of 1232 bytes"],
    ]),
  ],
  "Marinade mTransaction": [
    ...unread(200, [
      [-32602, "skipPreflight must be true"],
      [-32602, "config options are mandatory"],
    ]),
    ...unlisted(200, [
      [403, "Failed to authenticate"],
      [-32603, "Failed to forward the transaction"],
    ]),
  ],
  "Jupiter Beam": unlisted(200, [
    [-1013, "insufficient tip"],
    [-1015, "skipPreflight must be true"],
  ]),
  "lite-rpc": unlisted(200, [
    [-32000, "Blockhash not found in block store"],
    [-32000, "Blockhash is expired"],
  ]),
  "0slot": otherId(200, [
    '{"id":"ID","jsonrpc":"2.0","error":{"code":403,"message":"API key has expired"}}',
    '{"id":"ID","jsonrpc":"2.0","error":{"code":419,"message":"Rate limit exceeded"}}',
  ]),
  "P2P Syncro Sender": [
    ...unread(200, [
      [-32602, "Missing tip: no transfer to tip accounts found"],
      [-32602, "Insufficient tip: provided 5000 lamports, required 100000 lamports"],
    ]),
    ...limited(429, [[-32005, "Rate limit exceeded"]], { "retry-after": "1" }),
  ],
  Chainstack: [
    ...early(200, [[-32005, "You've exceeded the RPS limit available on the current plan."]]),
    ...limited(429, [[-32005, "You've exceeded the RPS limit available on the current plan."]]),
  ],
  Ankr: rejected(403, [
    [-32052, "API key is not allowed to access blockchain"],
    [-32052, "invalid api key"],
  ]),
  dRPC: [
    ...noError(400, ['{"message":"chain is not available on free plan","code":35}']),
    ...unlisted(400, [
      [12, "Can't route your request to suitable provider, if you specified certain providers revise the list"],
    ]),
    ...unlisted(500, [[19, "Temporary internal error. Please retry"]]),
  ],
  PublicNode: rejected(403, [[-32602, "Request blocked. Details: blocked parameter: params.1.programId"]]),
  MagicBlock: unlisted(200, [[403, "Your IP or provider is blocked from this endpoint"]]),
  Tatum: unlisted(200, [[-16401, "Method 'sendTransaction' is available for paid plans only."]]),
  "bloXroute (gRPC gateway)": [
    ...noError(400, ['{"code":3,"message":"invalid transaction","details":[]}']),
    ...late(500, ['{"code":13,"message":"transaction already in progress","details":[]}']),
    ...limited(429, ['{"code":8,"message":"rate limit exceeded","details":[]}']),
  ],
  jsonrpsee: [
    ...noMethod(200, [[-32601, "Method not found"]]),
    ...unread(200, [[-32602, "Invalid params", "expected value at line 1 column 5"]]),
    ...unlisted(200, [[-32009, "Server is busy, try again later"]]),
    // The code is listed, but this isn't about a node's state.
    ...unlisted(200, [[-32005, "Batched requests are not supported by this server"]]),
  ],
  Cloudflare: [
    ...rejected(403, [html("Attention Required! | Cloudflare")], { ...page, server: "cloudflare" }),
    ...limited(429, ["error code: 1015"], { server: "cloudflare" }),
    ...late(520, [html("520: Web server is returning an unknown error")], page),
    ...late(522, ["error code: 522"]),
    ...late(524, [html("524: A timeout occurred")], page),
  ],
  nginx: [
    ...rejected(413, [html("413 Request Entity Too Large")], { ...page, server: "nginx" }),
    ...rejected(404, [html("404 Not Found")], { ...page, server: "nginx" }),
    ...late(502, [html("502 Bad Gateway")], { ...page, server: "nginx" }),
    ...late(504, [html("504 Gateway Time-out")], { ...page, server: "nginx" }),
  ],
  Envoy: [
    ...rejected(403, ["RBAC: access denied"], { server: "envoy" }),
    ...limited(429, ["local_rate_limited"], { server: "envoy" }),
    ...late(503, ["upstream connect error or disconnect/reset before headers. reset reason: connection termination"], {
      server: "envoy",
    }),
    ...late(504, ["upstream request timeout"], { server: "envoy" }),
  ],
  HAProxy: [
    ...late(408, [
      "<html><body><h1>408 Request Time-out</h1>\nYour browser didn't send a complete request in time.\n</body></html>\n",
    ]),
    ...late(503, [
      "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n",
    ]),
  ],
  "AWS load balancer and API gateway": [
    ...rejected(403, ['{"message":"Forbidden"}']),
    ...limited(429, ['{"message":"Limit Exceeded"}']),
    ...late(504, ['{"message": "Endpoint request timed out"}']),
    ...late(502, [html("502 Bad Gateway")], { ...page, server: "awselb/2.0" }),
  ],
  "Kong, Traefik and Caddy": [
    ...rejected(401, ['{"message":"No API key found in request"}']),
    ...limited(429, ['{"message":"API rate limit exceeded"}']),
    ...rejected(404, ["404 page not found\n"]),
    ...late(502, ["Bad Gateway", ""]),
  ],
}

/** Texts that say that a provider has the transaction, or may have it. */
export const copyTexts: readonly string[] = [
  "This transaction has already been processed",
  "AlreadyProcessed",
  "already_known",
  "duplicate transaction",
  "DuplicateSignature",
  "transaction already landed",
  "signature already seen",
  "Transaction is in flight",
  "in-flight",
  "known transaction",
  "pending",
  "transaction already in queue",
  "queued for sending",
  "forwarded to the leader",
  "cached response",
  "Transaction was submitted earlier",
  "transaction has already been sent",
  "received before",
  "accepted by 3 validators",
  "confirmed in slot 447286173",
  "finalised",
  "included in a block",
  "already in the mempool",
  "exists in the ledger",
  "replayed transaction",
  "resubmission",
  "signature exists",
  "broadcast to the network",
  "executed on chain",
  "handed to the leader",
  "a1r3ady pr0cessed",
  "we have this one",
  "这笔交易已经被处理",
  "交易重复",
  "このトランザクションは既に処理されています",
  "送信済み",
  "이미 처리된 트랜잭션입니다",
  "Транзакция уже обработана",
  "транзакция уже отправлена",
  "la transacción ya fue procesada",
  "transaccion ya enviada",
  "Transaktion wurde bereits verarbeitet",
  "schon gesendet",
  "transaction déjà traitée",
  "transaction deja envoyee",
  "transação já processada",
  "transacao ja recebida",
  "işlem zaten gönderildi",
  "islem zaten islendi",
  "giao dịch đã được xử lý",
  "giao dich da duoc gui",
]
