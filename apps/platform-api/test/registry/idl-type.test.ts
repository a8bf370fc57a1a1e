import { expect, test } from "vitest"
import { DocumentFault } from "../../src/registry/ast/document-fault.ts"
import { fieldSpelling, rustSpelling } from "../../src/registry/ast/idl-type.ts"

test.each([
  ["u64", "u64"],
  ["publicKey", "Pubkey"],
  ["pubkey", "Pubkey"],
  ["string", "String"],
  ["bytes", "Vec<u8>"],
  ["solana_pubkey :: Pubkey", "solana_pubkey::Pubkey"],
  [{ vec: "u8" }, "Vec<u8>"],
  [{ option: { vec: "publicKey" } }, "Option<Vec<Pubkey>>"],
  [{ coption: "u64" }, "COption<u64>"],
  [{ array: ["u64", 25] }, "[u64;25]"],
  [{ array: [{ array: ["u8", 2] }, 0] }, "[[u8;2];0]"],
  [{ array: ["u8", { generic: "N" }] }, "[u8;N]"],
  [{ defined: "Numeric" }, "Numeric"],
  [{ defined: { name: "Numeric" } }, "Numeric"],
  [
    {
      defined: {
        name: "Ring",
        generics: [
          { kind: "type", type: { vec: "pubkey" } },
          { kind: "const", value: "8" },
        ],
      },
    },
    "Ring<Vec<Pubkey>,8>",
  ],
  [{ generic: "T" }, "T"],
  [{ tuple: ["u64", { defined: "Slot" }] }, "(u64,Slot)"],
  [{ tuple: ["u64"] }, "(u64,)"],
  [{ tuple: [] }, "()"],
  [{ hashMap: ["string", { defined: "Slot" }] }, "HashMap<String,Slot>"],
  [{ bTreeMap: ["u64", "pubkey"] }, "BTreeMap<u64,Pubkey>"],
  [{ hashSet: "u8" }, "HashSet<u8>"],
  [{ bTreeSet: "u8" }, "BTreeSet<u8>"],
])("%j is spelt %s", (type, rust) => {
  expect(rustSpelling(type)).toBe(rust)
})

test.each([
  [undefined, "", "is missing"],
  [7, "", "must be a type: a name or an object"],
  [["u8"], "", "must be a type: a name or an object"],
  ["Vec<u8", "", 'lacks a ">"'],
  [{}, "", "must have exactly one of"],
  [{ vec: "u8", option: "u8" }, "", "must have exactly one of"],
  [{ vec: null }, "vec", "must be a type: a name or an object"],
  [{ array: ["u8"] }, "array", "must be a type and a length"],
  [{ array: ["u8", 1.5] }, "array[1]", "must be a length"],
  [{ array: ["u8", {}] }, "array[1].generic", "is missing"],
  [{ hashMap: ["u8"] }, "hashMap", "must hold 2 types"],
  [{ tuple: ["u8", {}] }, "tuple[1]", "must have exactly one of"],
  [{ defined: {} }, "defined.name", "is missing"],
  [{ defined: { name: "A", generics: [{ kind: "type" }] } }, "defined.generics[0].type", "is missing"],
  [{ defined: { name: "A", generics: {} } }, "defined.generics", "must be an array"],
])("%j isn't a type, and the error has its path", (type, path, reason) => {
  const refusal = expect.objectContaining({ path, reason: expect.stringContaining(reason) })
  expect(() => rustSpelling(type)).toThrow(DocumentFault)
  expect(() => rustSpelling(type)).toThrow(refusal)
})

test("a field without a name is identified by its position", () => {
  expect(fieldSpelling({ name: "slot", type: "u64" }, 3)).toEqual({ name: "slot", type: "u64" })
  expect(fieldSpelling({ defined: "Meta" }, 3)).toEqual({ name: "3", type: "Meta" })
  expect(fieldSpelling("publicKey", 0)).toEqual({ name: "0", type: "Pubkey" })
  expect(() => fieldSpelling({ name: 1, type: "u8" }, 0)).toThrow("name: must be a name")
})
