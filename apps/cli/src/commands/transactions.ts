import type { CommandTable } from "../command.ts"
import type { OptionName } from "../usage/options.ts"

const relayOptions: readonly OptionName[] = ["stack", "websocket-url", "relay-url"]

export const transactionCommands: CommandTable = {
  title: "Transactions",
  commands: {
    simulate: {
      usage: "[FILE|-]",
      options: relayOptions,
      summary: "Simulate a transaction, signed or not; exit with 1 if it would fail",
      examples: ["svc simulate transaction.bin --stack transfers --json"],
      load: async () => (await import("../payments/inspect.ts")).simulate,
    },
    send: {
      usage: "[FILE|-]",
      options: [
        ...relayOptions,
        "id",
        "purpose",
        "journal",
        "allow-relay-change",
        "last-valid-block-height",
        "timeout",
      ],
      summary: "Send a signed transaction and wait for its outcome",
      details:
        "FILE or the standard input holds the signed bytes, raw or as base64. With --id, the transaction is stored before it's " +
        "sent, and other bytes of the same payment are sent only after these have expired. Exit codes: 0 landed; 1 landed with an " +
        "error, not submitted or expired; 3 undecided, with the command that continues.",
      examples: [
        "svc send transaction.bin --id invoice-42 --stack transfers",
        "svc send --stack transfers --json < transaction.base64",
      ],
      load: async () => (await import("../payments/send.ts")).send,
    },
    status: {
      usage: "<SIGNATURE>",
      options: relayOptions,
      summary: "Look up a transaction; exit 0 landed, 1 failed, 3 not found",
      examples: ["svc status SIGNATURE --stack transfers --json"],
      load: async () => (await import("../payments/inspect.ts")).status,
    },
    "payments list": {
      options: ["journal"],
      summary: "List the payments that svc send --id has stored",
      examples: ["svc payments list --json"],
      load: async () => (await import("../payments/payments.ts")).listPayments,
    },
    "payments show": {
      usage: "<ID>",
      options: ["journal"],
      summary: "Show one payment",
      examples: ["svc payments show invoice-42 --json"],
      load: async () => (await import("../payments/payments.ts")).showPayment,
    },
    "payments settle": {
      usage: "[ID]",
      options: [...relayOptions, "journal", "allow-relay-change", "timeout"],
      summary: "Find out the outcome of open payments, and send their stored bytes again",
      details:
        "It signs nothing. Exit codes: 0 all of them landed, or none is open; 1 one failed or has expired; 3 one is undecided or damaged.",
      examples: ["svc payments settle --stack transfers", "svc payments settle invoice-42 --stack transfers --json"],
      load: async () => (await import("../payments/payments.ts")).settlePayments,
    },
    "payments forget": {
      usage: "<ID>",
      options: ["journal", "force"],
      summary: "Remove a payment that has landed or expired, so that its id is free",
      details:
        "With --force, it also removes a payment that may still land or can't be read. Check on the chain first whether it was paid.",
      examples: ["svc payments forget invoice-42"],
      load: async () => (await import("../payments/payments.ts")).forgetPayment,
    },
  },
}
