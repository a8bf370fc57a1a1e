import { instructionsOf, type Message } from "./wire.ts"

const lamportsPerSignature = 5000n
const maxComputeUnits = 1_400_000n
const computeBudget = "ComputeBudget111111111111111111111111111111"

// Each signature that these programs verify costs a fee; the first byte of their data is the count.
const precompiles: ReadonlySet<string> = new Set([
  "Ed25519SigVerify111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
  "Secp256r1SigVerify1111111111111111111111111",
])

// A transaction without a limit gets 3,000 units for an instruction to one of these programs, otherwise 200,000.
const builtins: ReadonlySet<string> = new Set([
  "11111111111111111111111111111111",
  computeBudget,
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "LoaderV411111111111111111111111111111111111",
  "Ed25519SigVerify111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
])

// A version 1 message contains its priority fee, in lamports, if two bits of its mask are set.
const priorityFeeBits = 0b11

/**
 * What a message costs its payer, in lamports: 5,000 per signature and the price of the compute units that it requests,
 * which a version 1 message contains.
 */
export const feeOf = (message: Message): bigint => {
  let signatures = BigInt(message.header.numSignerAccounts)
  let defaultUnits = 0n
  let unitLimit: bigint | undefined
  let microLamportsPerUnit = 0n
  for (const { program: index, data } of instructionsOf(message)) {
    const program = message.staticAccounts[index] ?? ""
    if (precompiles.has(program)) signatures += BigInt(data[0] ?? 0)
    defaultUnits += builtins.has(program) ? 3000n : 200_000n
    if (program !== computeBudget) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === 2 && bytes.length >= 5) unitLimit = BigInt(bytes.readUInt32LE(1))
    if (bytes[0] === 3 && bytes.length >= 9) microLamportsPerUnit = bytes.readBigUInt64LE(1)
  }
  if (message.version === 1) {
    const [first] = (message.configMask & priorityFeeBits) === priorityFeeBits ? message.configValues : []
    return signatures * lamportsPerSignature + BigInt(first?.value ?? 0)
  }
  const asked = unitLimit ?? defaultUnits
  const units = asked < maxComputeUnits ? asked : maxComputeUnits
  const priority = (microLamportsPerUnit * units + 999_999n) / 1_000_000n
  return signatures * lamportsPerSignature + priority
}
