// What real providers, and the servers in front of them, return to sendTransaction when it doesn't succeed. The facts come from
// public source code, documentation, issues and test data. Each row says what the response proves, and why.

/** A JSON-RPC error with the request's own id, or the text of a body, in which ID stands for that id. */
type Body = { readonly code: number; readonly message: string; readonly data?: unknown } | string

type Proves = "not_submitted" | "not_submitted, retryable" | "unknown"

type Row = readonly [status: number, body: Body, proves: Proves, why: string, headers?: Record<string, string>]

const no = "not_submitted"
const later = "not_submitted, retryable"
const open = "unknown"

const system = "11111111111111111111111111111111"
const token = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const someone = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"
const amm = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"

const invoke = (program: string, lines: readonly string[], failure: string) => [
  `Program ${program} invoke [1]`,
  ...lines,
  `Program ${program} consumed 4100 of 200000 compute units`,
  `Program ${program} failed: ${failure}`,
]

/** A failed preflight as Agave writes it. */
const preflight = (said: string, err: unknown, logs: readonly string[] = [], more: object = {}): Body => ({
  code: -32002,
  message: `Transaction simulation failed: ${said}`,
  data: {
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
  },
})

const instruction = (said: string, err: unknown, logs: readonly string[] = [], more: object = {}): Body =>
  preflight(`Error processing Instruction 0: ${said}`, { InstructionError: [0, err] }, logs, more)

/** A swap that the price ran away from. */
const slipped = (operation: string, said: string, code: number, lines: readonly string[] = []): readonly Row[] => {
  const failure = `custom program error: 0x${code.toString(16)}`
  const logs = [`Program log: Instruction: ${operation}`, `Program log: AnchorError ${said}`, ...lines]
  return [[200, instruction(failure, { Custom: code }, invoke(amm, logs, failure)), no, simulated]]
}

const simulated = "preflight comes before the node hands a transaction on"
const status = "the status decides"
const copy = "an earlier copy exists"
const unlisted = "the code isn't on the list"
const page = "no JSON-RPC response to this call"
const late = "the front may have passed the call on"

const html = (title: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>`

export const families: Readonly<Record<string, readonly Row[]>> = {
  "Agave, transaction errors": [
    [200, preflight("Blockhash not found", "BlockhashNotFound"), no, simulated],
    [
      200,
      preflight("Attempt to debit an account but found no record of a prior credit.", "AccountNotFound"),
      no,
      simulated,
    ],
    [200, preflight("Insufficient funds for fee", "InsufficientFundsForFee"), no, simulated],
    [
      200,
      preflight("Transaction results in an account (1) with insufficient funds for rent", {
        InsufficientFundsForRent: { account_index: 1 },
      }),
      no,
      simulated,
    ],
    [200, preflight("This account may not be used to pay transaction fees", "InvalidAccountForFee"), no, simulated],
    [200, preflight("Transaction did not pass signature verification", "SignatureFailure"), no, simulated],
    [200, preflight("Attempt to load a program that does not exist", "ProgramAccountNotFound"), no, simulated],
    [200, preflight("Account loaded twice", "AccountLoadedTwice"), no, "about accounts of this transaction"],
    [
      200,
      preflight("Transaction contains a duplicate instruction (1) that is not allowed", { DuplicateInstruction: 1 }),
      no,
      "about instructions of this transaction",
    ],
    [200, preflight("Transaction locked too many accounts", "TooManyAccountLocks"), no, simulated],
    [
      200,
      preflight("Transaction loads an address table account that doesn't exist", "AddressLookupTableNotFound"),
      no,
      simulated,
    ],
    [
      200,
      preflight("Transaction exceeded max loaded accounts data size cap", "MaxLoadedAccountsDataSizeExceeded"),
      no,
      simulated,
    ],
    [200, preflight("Transaction would exceed max Block Cost Limit", "WouldExceedMaxBlockCostLimit"), no, simulated],
    [
      200,
      preflight("Execution of the program referenced by account at index 3 is temporarily restricted.", {
        ProgramExecutionTemporarilyRestricted: { account_index: 3 },
      }),
      no,
      simulated,
    ],
    [
      200,
      preflight("Sum of account balances before and after transaction do not match", "UnbalancedTransaction"),
      no,
      simulated,
    ],
    [200, preflight("Program cache hit max limit", "ProgramCacheHitMaxLimit"), no, simulated],
    [
      200,
      preflight("Transactions are currently disabled due to cluster maintenance", "ClusterMaintenance"),
      no,
      simulated,
    ],
    [200, { code: -32002, message: "Transaction simulation failed" }, no, simulated],
    [200, preflight("This transaction has already been processed", "AlreadyProcessed"), open, copy],
    [200, { ...(preflight("", "AlreadyProcessed") as object), message: "Preflight failed" } as Body, open, copy],
    [
      200,
      { code: -32002, message: "Transaction simulation failed: This transaction has already been processed" },
      open,
      copy,
    ],
    [200, preflight("Account in use", "AccountInUse"), open, "a copy in progress may hold the account"],
    [200, preflight("CommitCancelled", "CommitCancelled"), open, "not documented when it comes"],
  ],
  "Agave, instruction errors": [
    [
      200,
      instruction(
        "custom program error: 0x1",
        { Custom: 1 },
        invoke(system, ["Transfer: insufficient lamports 99995000, need 9000000000"], "custom program error: 0x1"),
      ),
      no,
      simulated,
    ],
    [
      200,
      instruction(
        "custom program error: 0x0",
        { Custom: 0 },
        invoke(
          system,
          [`Allocate: account Address { address: ${someone}, base: None } already in use`],
          "custom program error: 0x0",
        ),
      ),
      no,
      "about an account",
    ],
    [
      200,
      instruction(
        "custom program error: 0x6",
        { Custom: 6 },
        invoke(
          token,
          ["Program log: Instruction: InitializeAccount3", "Program log: Error: account or token already in use"],
          "custom program error: 0x6",
        ),
      ),
      no,
      "about an account",
    ],
    [
      200,
      instruction("instruction requires an uninitialized account", "AccountAlreadyInitialized", [
        `Program ${token} invoke [1]`,
        `Program ${token} failed: instruction requires an uninitialized account`,
      ]),
      no,
      "about an account",
    ],
    [
      200,
      instruction(
        "custom program error: 0xbc4",
        { Custom: 3012 },
        invoke(
          amm,
          [
            "Program log: Instruction: Swap",
            "Program log: AnchorError caused by account: pool. Error Code: AccountNotInitialized. Error Number: 3012. Error Message: The program expected this account to be already initialized.",
          ],
          "custom program error: 0xbc4",
        ),
      ),
      no,
      "about an account",
    ],
    [
      200,
      instruction(
        "custom program error: 0x7f8",
        { Custom: 2040 },
        invoke(
          amm,
          [
            "Program log: AnchorError caused by account: vault. Error Code: ConstraintDuplicateMutableAccount. Error Number: 2040. Error Message: A duplicate mutable account constraint was violated.",
          ],
          "custom program error: 0x7f8",
        ),
      ),
      no,
      "about accounts of this transaction",
    ],
    [
      200,
      instruction(
        "custom program error: 0x1e",
        { Custom: 30 },
        invoke(
          amm,
          [
            "Program log: ray_log: A8CWmAAAAAAAAAAAAAAAAAACAAAAAAAAAMCWmAAAAAAAuBkSOhQBAAD8wHJlVQAAAA==",
            "Program log: Error: exceeds desired slippage limit",
          ],
          "custom program error: 0x1e",
        ),
      ),
      no,
      simulated,
    ],
    [
      200,
      instruction("Provided owner is not allowed", "IllegalOwner", [
        "Program ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL invoke [1]",
        "Program log: CreateIdempotent",
        "Program log: Please upgrade to SPL Token 2022 for immutable owner support",
        `Program return: ${token} pQAAAAAAAAA=`,
        "Program log: Error: Associated token account owner does not match address derivation",
        "Program ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL consumed 7338 of 200000 compute units",
        "Program ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL failed: Provided owner is not allowed",
      ]),
      no,
      simulated,
    ],
    [
      200,
      instruction(
        "custom program error: 0x1",
        { Custom: 1 },
        [
          "Program ComputeBudget111111111111111111111111111111 invoke [1]",
          "Program ComputeBudget111111111111111111111111111111 success",
          ...invoke(token, ["Program log: Error: insufficient funds"], "custom program error: 0x1"),
        ],
        { returnData: { programId: token, data: ["pQAAAAAAAAA=", "base64"] } },
      ),
      no,
      simulated,
    ],
    [
      200,
      instruction("Computational budget exceeded", "ComputationalBudgetExceeded", [
        `Program ${amm} invoke [1]`,
        `Program ${amm} consumed 200000 of 200000 compute units`,
        `Program ${amm} failed: exceeded CUs meter at BPF instruction`,
        "Log truncated",
      ]),
      no,
      simulated,
    ],
    [
      200,
      instruction("Program failed to complete", "ProgramFailedToComplete", [
        `Program ${amm} invoke [1]`,
        "Program log: panicked at 'called `Result::unwrap()` on an `Err` value: InvalidAccountData', src/processor.rs:88:9",
        `Program data: QMbN6CYIceIAypo7AAAAAA== vdt/007mYe4=`,
        `Program ${amm} failed: Program failed to complete: Access violation in heap section at address 0x300008000 of size 8`,
      ]),
      open,
      "a program's own text",
    ],
    [
      200,
      instruction("Program failed to complete", "ProgramFailedToComplete", [
        `Program ${amm} invoke [1]`,
        `Program data: QMbN6CYIceIAypo7AAAAAA== vdt/007mYe4=`,
        `Program ${amm} failed: Access violation in heap section at address 0x300008000 of size 8`,
      ]),
      no,
      simulated,
    ],
    [200, instruction("Failed to serialize or deserialize account data", { BorshIoError: "Unknown" }), no, simulated],
    [200, instruction("instruction modified data of a read-only account", "ReadonlyDataModified"), no, simulated],
    [
      200,
      instruction("instruction spent from the balance of an account it does not own", "ExternalAccountLamportSpend"),
      no,
      simulated,
    ],
    [
      200,
      instruction(
        "instruction tries to borrow reference for an account which is already borrowed",
        "AccountBorrowFailed",
      ),
      no,
      "about an account",
    ],
    [
      200,
      instruction("Cross-program invocation with unauthorized signer or writable account", "PrivilegeEscalation"),
      no,
      simulated,
    ],
    [200, instruction("An account required by the instruction is missing", "MissingAccount"), no, simulated],
    [
      200,
      instruction(
        "custom program error: 0x1771",
        { Custom: 6001 },
        invoke(amm, ["Program log: Error Message: This drop was already claimed."], "custom program error: 0x1771"),
      ),
      open,
      "a program's own text",
    ],
    [
      200,
      instruction("custom program error: 0x1", { Custom: 1 }, [
        "Program MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr invoke [1]",
        'Program log: Memo (len 10): "invoice-42"',
      ]),
      open,
      "a memo is the payer's own text",
    ],
  ],
  "Agave, swaps past their slippage": [
    ...slipped(
      "RouteV2",
      "occurred. Error Code: SlippageToleranceExceeded. Error Number: 6001. Error Message: Slippage tolerance exceeded.",
      6001,
    ),
    ...slipped(
      "Buy",
      "thrown in programs/pump/src/lib.rs:444. Error Code: TooMuchSolRequired. Error Number: 6002. Error Message: slippage: Too much SOL required to buy the given amount of tokens..",
      6002,
      ["Program log: Left: 7000000", "Program log: Right: 11425995"],
    ),
    ...slipped(
      "SwapV2",
      "thrown in programs/amm/src/instructions/swap_v2.rs:362. Error Code: TooLittleOutputReceived. Error Number: 6022. Error Message: Too little output received.",
      6022,
    ),
    ...slipped(
      "TwoHopSwap",
      "occurred. Error Code: AmountOutBelowMinimum. Error Number: 6036. Error Message: Amount out below minimum threshold.",
      6036,
    ),
    ...slipped(
      "Swap2",
      "thrown in programs/cp-amm/src/instructions/swap/swap_exact_out.rs:48. Error Code: ExceededSlippage. Error Number: 6002. Error Message: Exceeded slippage tolerance.",
      6002,
    ),
  ],
  "Agave, other RPC errors": [
    [200, { code: -32003, message: "Transaction signature verification failure" }, no, "no node accepts it"],
    [
      200,
      { code: -32005, message: "Node is behind by 206 slots", data: { numSlotsBehind: 206 } },
      later,
      "not accepted",
    ],
    [200, { code: -32005, message: "Node is unhealthy", data: { numSlotsBehind: null } }, later, "not accepted"],
    ...["InvalidInstructionDataSize", "InvalidAccountIndex", "InstructionError(0, Custom(0))"].map((cause): Row => [
      200,
      { code: -32006, message: `Transaction precompile verification failure ${cause}` },
      no,
      "no node accepts it",
    ]),
    [200, { code: -32013, message: "Transaction signature length mismatch" }, no, "no node accepts it"],
    [
      200,
      {
        code: -32015,
        message:
          'Transaction version (1) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 1',
      },
      no,
      "the node can't read it",
    ],
    [
      200,
      { code: -32016, message: "Minimum context slot has not been reached", data: { contextSlot: 447286173 } },
      later,
      "checked first",
    ],
    [
      200,
      {
        code: -32602,
        message:
          "failed to deserialize solana_transaction::versioned::VersionedTransaction: io error: failed to fill whole buffer",
      },
      no,
      "the bytes weren't read",
    ],
    [
      200,
      {
        code: -32602,
        message:
          "base64 encoded solana_transaction::versioned::VersionedTransaction too large: 1700 bytes (max: encoded/raw 1644/1232)",
      },
      no,
      "the bytes weren't read",
    ],
    [200, { code: -32602, message: "invalid base64 encoding: InvalidByte(0, 42)" }, no, "the bytes weren't read"],
    [
      200,
      { code: -32602, message: "invalid transaction: Transaction failed to sanitize accounts offsets correctly" },
      no,
      "no node accepts it",
    ],
    [
      200,
      { code: -32602, message: "invalid transaction: Transaction address table lookup uses an invalid index" },
      no,
      "no node accepts it",
    ],
    [
      200,
      { code: -32602, message: "Invalid params: unknown variant `json`, expected one of `base58`, `base64`." },
      no,
      "the parameters weren't used",
    ],
    [200, { code: -32601, message: "Method not found" }, no, "no method ran"],
    [200, { code: -32600, message: "Invalid request" }, no, "no method ran"],
    [200, { code: -32603, message: "Internal error" }, open, unlisted],
    [200, { code: -32004, message: "Block not available for slot 447286173" }, open, unlisted],
    [200, { code: -32014, message: "Block status not yet available for slot 447286173" }, open, unlisted],
    [
      200,
      { code: -32007, message: "Slot 1 was skipped, or missing due to ledger jump to recent snapshot" },
      open,
      unlisted,
    ],
    [200, '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}', open, "another id"],
    [405, "Used HTTP Method is not allowed. POST or OPTIONS is required\n", no, status],
    [415, "Supplied content type is not allowed. Content-Type: application/json is required\n", no, status],
    [413, "", no, status],
  ],
  "Solana public endpoints": [
    [
      429,
      '{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests for a specific RPC call"},"id":ID}',
      later,
      status,
      { "retry-after": "10" },
    ],
    [403, { code: 403, message: "Your IP or provider is blocked from this endpoint" }, no, status],
    [403, '{"jsonrpc":"2.0","error":{"code":403,"message":"Access forbidden"},"id":null}', no, status],
    [200, { code: 429, message: "Too many requests for a specific RPC call" }, open, "a code proves nothing here"],
  ],
  "Helius RPC": [
    [401, '{"jsonrpc":"2.0","error":{"code":-32401,"message":"invalid api key provided"}}', no, status],
    [429, { code: -32429, message: "max usage reached" }, later, status],
    [429, { code: -32429, message: "rate limited" }, later, status],
    [200, { code: -32429, message: "max usage reached" }, open, "a code proves nothing here"],
    [200, "max usage reached", open, page],
  ],
  "Helius Sender and Atlas": [
    [
      400,
      "transaction must send a tip of at least 200000 lamports to one of the following Helius wallets",
      open,
      "a 400 without a JSON-RPC error",
    ],
    [
      400,
      {
        code: -32602,
        message: "transaction must send a tip of at least 200000 lamports to one of the following Helius wallets",
      },
      no,
      "the parameters weren't used",
    ],
    [500, "running preflight check is not supported", open, late],
    [200, { code: -32010, message: "Invalid Request: running preflight check is not supported" }, open, unlisted],
  ],
  "Astralane Iris": [
    [200, { code: -32602, message: "Invalid Request: duplicate transaction" }, open, copy],
    [400, { code: -32602, message: "Invalid Request: duplicate transaction" }, open, copy],
    [200, { code: -32602, message: "Invalid Request: running preflight check is not supported" }, no, "not used"],
    [
      200,
      { code: -32602, message: "Invalid Request: unsupported encoding: json. Supported encodings: base58, base64" },
      no,
      "not used",
    ],
  ],
  "Jito block engine": [
    [200, { code: -32602, message: "bundle contains an already processed transaction" }, open, copy],
    [400, { code: -32602, message: "bundle contains an already processed transaction", data: null }, open, copy],
    [
      400,
      {
        code: -32602,
        message: "bundles must not contain any duplicate transactions and every transaction must be signed",
      },
      open,
      "it names duplicates",
    ],
    [400, { code: -32602, message: "bundle contains an expired blockhash" }, no, "not used"],
    [400, { code: -32602, message: "bundle contains an invalid blockhash" }, no, "not used"],
    [400, { code: -32602, message: "bundle does not lock any of the tip PDAs" }, no, "not used"],
    [400, { code: -32603, message: "transaction has too many account locks" }, open, unlisted],
    [
      429,
      '{"jsonrpc":"2.0","error":{"code":-32097,"message":"Network congested. Endpoint is globally rate limited.","data":null},"id":null}',
      later,
      status,
    ],
    [
      429,
      {
        code: -32097,
        message: "Rate limit exceeded. Limit: 1 per second for txn requests. Back-off triggered: Retry after 1606ms",
      },
      later,
      status,
    ],
    [200, { code: -32097, message: "Network congested. Endpoint is globally rate limited." }, open, unlisted],
  ],
  QuickNode: [
    [
      429,
      { code: 429, message: "The requests per second (RPS) of your requests are higher than your plan allows." },
      later,
      status,
    ],
    [
      429,
      '{"code":-32007,"message":"300/second request limit reached - reduce calls per second or upgrade your account at quicknode.com"}',
      later,
      status,
    ],
    [200, { code: -32007, message: "50/second request limit reached - reduce calls per second" }, open, unlisted],
    [200, { code: -32003, message: "daily request limit reached - upgrade your account" }, no, "the limit came first"],
    [401, "Unauthorized", no, status],
    [404, "Not Found", no, status],
  ],
  Alchemy: [
    [
      429,
      {
        code: 429,
        message:
          "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.",
      },
      later,
      status,
    ],
    [429, { code: 429, message: "Monthly capacity limit exceeded" }, later, status],
    [200, { code: 429, message: "Monthly capacity limit exceeded" }, open, "a code proves nothing here"],
    [403, { code: -32600, message: "SOLANA_MAINNET is not enabled for this app" }, no, status],
    [401, { code: -32600, message: "Must be authenticated!" }, no, status],
    [200, '{"jsonrpc":"2.0","error":{"code":-32002,"message":"Transaction simulation failed"}}', open, "no id"],
  ],
  "Triton, RPC pool and Jet": [
    [
      429,
      {
        code: 429,
        message: "Too requests for a specific RPC call, contact your app developer or support@rpcpool.com.",
      },
      later,
      status,
    ],
    [200, { code: -32603, message: "preflight check is not supported" }, open, unlisted],
    [
      200,
      {
        code: -32603,
        message: "invalid transaction: transaction size 1300 exceeds maximum allowed size of 1232 bytes",
      },
      open,
      unlisted,
    ],
  ],
  "Marinade mTransaction": [
    [200, { code: -32602, message: "skipPreflight must be true" }, no, "not used"],
    [200, { code: -32602, message: "config options are mandatory" }, no, "not used"],
    [200, { code: 403, message: "Failed to authenticate" }, open, unlisted],
    [200, { code: -32603, message: "Failed to forward the transaction" }, open, unlisted],
  ],
  "Jupiter Beam": [
    [200, { code: -1013, message: "insufficient tip" }, open, unlisted],
    [200, { code: -1015, message: "skipPreflight must be true" }, open, unlisted],
  ],
  "lite-rpc": [
    [200, { code: -32000, message: "Blockhash not found in block store" }, open, unlisted],
    [200, { code: -32000, message: "Blockhash is expired" }, open, unlisted],
  ],
  "0slot": [
    [200, '{"id":"ID","jsonrpc":"2.0","error":{"code":403,"message":"API key has expired"}}', open, "the id is text"],
    [200, '{"id":"ID","jsonrpc":"2.0","error":{"code":419,"message":"Rate limit exceeded"}}', open, "the id is text"],
  ],
  "P2P Syncro Sender": [
    [200, { code: -32602, message: "Missing tip: no transfer to tip accounts found" }, no, "not used"],
    [
      200,
      { code: -32602, message: "Insufficient tip: provided 5000 lamports, required 100000 lamports" },
      no,
      "not used",
    ],
    [429, { code: -32005, message: "Rate limit exceeded" }, later, status, { "retry-after": "1" }],
  ],
  Chainstack: [
    [
      200,
      { code: -32005, message: "You've exceeded the RPS limit available on the current plan." },
      later,
      "the limit came first",
    ],
    [429, { code: -32005, message: "You've exceeded the RPS limit available on the current plan." }, later, status],
  ],
  Ankr: [
    [403, { code: -32052, message: "API key is not allowed to access blockchain" }, no, status],
    [403, { code: -32052, message: "invalid api key" }, no, status],
  ],
  dRPC: [
    [400, '{"message":"chain is not available on free plan","code":35}', open, "a 400 without a JSON-RPC error"],
    [
      400,
      {
        code: 12,
        message: "Can't route your request to suitable provider, if you specified certain providers revise the list",
      },
      open,
      unlisted,
    ],
    [500, { code: 19, message: "Temporary internal error. Please retry" }, open, unlisted],
  ],
  PublicNode: [
    [403, { code: -32602, message: "Request blocked. Details: blocked parameter: params.1.programId" }, no, status],
  ],
  MagicBlock: [[200, { code: 403, message: "Your IP or provider is blocked from this endpoint" }, open, unlisted]],
  Tatum: [
    [200, { code: -16401, message: "Method 'sendTransaction' is available for paid plans only." }, open, unlisted],
  ],
  "bloXroute (gRPC gateway)": [
    [400, '{"code":3,"message":"invalid transaction","details":[]}', open, "a 400 without a JSON-RPC error"],
    [500, '{"code":13,"message":"transaction already in progress","details":[]}', open, late],
    [429, '{"code":8,"message":"rate limit exceeded","details":[]}', later, status],
  ],
  jsonrpsee: [
    [200, { code: -32601, message: "Method not found" }, no, "no method ran"],
    [200, { code: -32602, message: "Invalid params", data: "expected value at line 1 column 5" }, no, "not used"],
    [200, { code: -32009, message: "Server is busy, try again later" }, open, unlisted],
    [
      200,
      { code: -32005, message: "Batched requests are not supported by this server" },
      open,
      "not about a node's state",
    ],
  ],
  Cloudflare: [
    [403, html("Attention Required! | Cloudflare"), no, status, { "content-type": "text/html", server: "cloudflare" }],
    [429, "error code: 1015", later, status, { server: "cloudflare" }],
    [520, html("520: Web server is returning an unknown error"), open, late, { "content-type": "text/html" }],
    [522, "error code: 522", open, late],
    [524, html("524: A timeout occurred"), open, late, { "content-type": "text/html" }],
  ],
  nginx: [
    [413, html("413 Request Entity Too Large"), no, status, { "content-type": "text/html", server: "nginx" }],
    [404, html("404 Not Found"), no, status, { "content-type": "text/html", server: "nginx" }],
    [502, html("502 Bad Gateway"), open, late, { "content-type": "text/html", server: "nginx" }],
    [504, html("504 Gateway Time-out"), open, late, { "content-type": "text/html", server: "nginx" }],
  ],
  Envoy: [
    [403, "RBAC: access denied", no, status, { server: "envoy" }],
    [429, "local_rate_limited", later, status, { server: "envoy" }],
    [
      503,
      "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
      open,
      late,
      { server: "envoy" },
    ],
    [504, "upstream request timeout", open, late, { server: "envoy" }],
  ],
  HAProxy: [
    [
      408,
      "<html><body><h1>408 Request Time-out</h1>\nYour browser didn't send a complete request in time.\n</body></html>\n",
      open,
      late,
    ],
    [
      503,
      "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n",
      open,
      late,
    ],
  ],
  "AWS load balancer and API gateway": [
    [403, '{"message":"Forbidden"}', no, status],
    [429, '{"message":"Limit Exceeded"}', later, status],
    [504, '{"message": "Endpoint request timed out"}', open, late],
    [502, html("502 Bad Gateway"), open, late, { "content-type": "text/html", server: "awselb/2.0" }],
  ],
  "Kong, Traefik and Caddy": [
    [401, '{"message":"No API key found in request"}', no, status],
    [429, '{"message":"API rate limit exceeded"}', later, status],
    [404, "404 page not found\n", no, status],
    [502, "Bad Gateway", open, late],
    [502, "", open, late],
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
