// The words and phrases of known errors that can't be about an earlier copy of a transaction. A missing one only makes an outcome
// unknown. The facts come from Agave's errors of transactions, instructions and RPC calls, from the System, SPL Token
// and Anchor programs, and from rejections of providers.

const split = (text: string, by: RegExp): readonly string[] => text.trim().split(by)

/**
 * No combination of these words says that a provider has the transaction. They include no verb of sending, receiving, storing or
 * executing, and no word for an order in time, for sameness or for presence.
 */
export const harmlessWords: ReadonlySet<string> = new Set(
  split(
    `
    a absent access account accounts address addresses allocate allocations allowed amount an anchor and any api are
    argument arguments arithmetic array as associated attempt attempted authenticate authentication authority
    authorization authorized bad balance balances base base58 base64 be because behind below binary bits blocked
    blockhash body boolean borrow borsh budget builtin bundle bundles but by byte bytes call caller can cannot cap
    capacity carry caused chain changed character characters check checks client cluster code column comma compile
    computational compute config configuration constraint consume contact contain contains content context correct
    correctly cost could count create credentials credits cross custom daily data debit decimals decode decoded deep denied
    depth deserialize deserialized deserializing details did didn differ disabled discriminator do does doesn don
    element elements empty enabled encode encoded encoding encodings endpoint enough enum environment eof epoch err
    error errors escalation exceed exceeded exceeds executable exempt expect expected expects external false fee fees
    field fields fill float following for forbidden format from full fund funds generic genesis greater header heap
    helius hex host http https id illegal illegally immutable incorrect index indexes info inner input instruction
    instructions insufficient integer invalid invocation io ip is isn it item items its ix jito json jsonrpc key keys
    lamport lamports large leaves left length less level limit limited limits line list load loader loads log logs
    long lookup low lower maintenance malformed mandatory many map match max maximum may message meta method methods min
    minimum mint mints minute mismatch missing modified more must name need negative no node non none not null num
    number object of offset offsets one operation option optional options or other out overflow overflowed own owned
    owner param parameter parameters params parse parser parsing pay payer paying payload pdas per permission
    permitted plan please pre precompile precompiled preflight price priority privilege program programs provided
    provider pubkey public quota range rate raw read readonly realloc reallocate reason reentrancy reference refused
    reject rejected remaining rent replacement request requested requesting requests require required requires
    resanitization restricted results retries return returned rpc rps sanitization sanitize sanitized sdk second
    seconds section seed seeds sequence serialize set short should sign signature signatures signer signers simulation
    size skip slot slots small sol solana some space spl stack string struct subscription sufficient sum supported
    syntax system sysvar t table than that the this throttled tip tips to token tokens too total trailing transaction
    transactions transfer tries true truncated try tx txn txs type types ui unauthorized unavailable unbalanced
    unexpected unhealthy uninitialized unit units unknown unsigned unsupported up upgrade url usage utf8 valid
    validation value values variant ve verification verify version versioned violated violation vote wallet wallets
    when which while whitelist whole with would writable write wrong you your zero`,
    /\s+/,
  ),
)

/** Phrases that say something harmless with words that aren't above. Numbers and addresses are left out. */
export const harmlessPhrases: readonly string[] = split(
  `
  account address address base (?:none|some) already in use
  account (?:or token )?already (?:in use|initialized|exists)
  account borrow outstanding
  account data block limit
  account discriminator (?:was )?already set(?: on this account)?
  account loaded twice
  (?:to be |token |mint )?already initialized
  already (?:mutably )?borrowed
  access violation in
  are currently disabled
  at (?:index|least|line|column|position|offset|address)
  back off triggered
  before and after
  cannot be written
  blockhash (?:is |has )?expired
  constraint duplicate mutable account
  duplicate (?:account index|account out of sync|accounts|instruction|mutable account constraint)
  available on the current plan
  did not pass
  does(?: not|n t) (?:exist|have|lock)
  error processing instruction
  exceeded c us meter at bpf instruction
  execution (?:environment|temporarily restricted)
  execution of the program referenced by account
  expired blockhash
  (?:authentication|borrow|check|decoding|parsing|precompile|preflight|program|simulation|validation|verification) failed(?: to complete)?
  failed to (?:authenticate|borrow|compile|complete|create|decode|deserialize|fill|load|parse|reallocate|sanitize|serialize|verify)
  (?:precompile|preflight|sanitize|setup|signature|verification) failure
  for execut(?:ing instructions|ion)
  found no record of a prior credit
  has no signature present
  (?:has )?not (?:been )?reached
  is temporarily restricted
  key has expired
  lamport spend
  (?:limit|usage) reached
  (?:max )?loaded accounts data size
  loaded addresses
  locked too many accounts
  max block cost limit
  may not be used
  must send a tip
  multiply passed account
  no transfer to tip accounts found
  not available
  not found
  paid plans?
  out of bounds
  outstanding borrowed reference
  post (?:token )?balances
  program cache hit max limit
  program consumption
  read only
  requires an initialized account
  results in an account
  retry after
  running preflight check
  should have
  spent from the balance
  the request again
  tip pd as
  too (?:little|much) \\w+ received
  too many account locks
  transaction processing left an account
  try again(?: later)?
  unexpected end of
  units consumed
  uses an invalid index
  whole buffer
  within the block
  due to cluster`,
  /\s*\n\s*/,
)

/** How the log line of a program could mention an earlier copy, in languages that can be written in ASCII. */
export const copyWords: readonly string[] = split(
  `
  transa[ckz]\\w*|txn?s?|giao dich
  already|duplicat\\w*|dup(?:e|ed|es)|known|land(?:ed|ing)|in ?flight|pending|seen|queue\\w*|forward\\w*|cached?|sent|resen[dt]|submi\\w*|resubmi\\w*
  received|accepted|process(?:ed|ing)|confirm\\w*|finali[sz]\\w*|included|inclusion|exists?|existing|previous\\w*|prior|earlier|before
  again|twice|repeat\\w*|replay\\w*|\\w*broadcast\\w*|propagat\\w*|relayed|mempool|identical|executed|committed|recorded|ledger
  delivered|dispatched|handled|stored|tracked|on ?chain|in (?:a|the|this) block|in progress|on its way|on the wire|(?:have|has) (?:it|this)
  double|collision|conflict\\w*|(?:same|this|the) signature
  ya|procesad\\w*|enviad\\w*|recibid\\w*|conocid\\w*|repetid\\w*|existe|pendiente|vist[ao]
  bereits|schon|verarbeitet|gesendet|bekannt|doppelt|gesehen|eingereicht|empfangen|ausstehend|vorhanden|unterwegs|warteschlange
  deja|traitee?s?|envoyee?s?|connue?s?|recue?s?|doublon|existante|attente|soumise?
  ja|processad\\w*|recebid\\w*|conhecid\\w*|pendente|fila
  zaten|islen\\w*|gonderil\\w*|bilin\\w*|mukerrer|tekrar|bekle\\w*|kuyruk\\w*
  da|duoc|gui|ton tai|trung|hang doi|cho xu ly
  gia|elaborat\\w*|inviat\\w*|ricevut\\w*|reeds|verwerkt|verzonden|ontvangen|sudah|telah|diproses|terkirim|redan|skickad|allerede
  juz|przetworz\\w*|wyslan\\w*|uzhe|obrabotan\\w*|otpravlen\\w*|yijing|chuli|chongfu|sudeni|jufuku|imi|cheori`,
  /\s*\n\s*/,
)
