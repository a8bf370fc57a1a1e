import type { CommandTable } from "../command.ts"

export const publishingCommands: CommandTable = {
  title: "Publish stacks",
  commands: {
    push: {
      usage: "<FILE>",
      options: ["name", "websocket-url", "visibility", "allow-breaking", "check"],
      summary: "Publish an AST as the next version of a stack, and wait for the result",
      details:
        "It needs a person's key (svc_sk_). A change that breaks readers waits for svc runs resume ID: then the exit code is 1 " +
        "and the error is run-waiting. --check publishes nothing and exits with 1 for such a change.",
      examples: [
        "svc push stack.json --name my-stack --check --json",
        "svc push stack.json --name my-stack --websocket-url wss://streams.example/my-stack --visibility public",
      ],
      load: async () => (await import("../publish/push.ts")).push,
    },
    specs: {
      summary: "List the specs of the key's owner",
      examples: ["svc specs --json"],
      load: async () => (await import("../publish/records.ts")).specs,
    },
    builds: {
      usage: "[ID]",
      summary: "List builds, or show one with its events",
      examples: ["svc builds", "svc builds 7 --json"],
      load: async () => (await import("../publish/records.ts")).builds,
    },
    deployments: {
      usage: "[ACTION] [ID]",
      options: ["to", "wait"],
      summary: "List, show or manage deployments",
      details: "ACTION is stop, restart, rollback or delete. Actions need a person's key (svc_sk_).",
      examples: [
        "svc deployments",
        "svc deployments rollback 3 --to 1 --wait",
        "svc deployments stop 3 --wait",
        "svc deployments restart 3 --json",
      ],
      load: async () => (await import("../publish/records.ts")).deployments,
    },
    runs: {
      usage: "[ACTION] [ID]",
      options: ["wait"],
      summary: "List, show or manage workflow runs",
      details: "ACTION is resume, retry or cancel. Actions need a person's key (svc_sk_).",
      examples: ["svc runs", "svc runs 12 --json", "svc runs resume 13 --wait"],
      load: async () => (await import("../publish/records.ts")).runs,
    },
    "stream check": {
      usage: "<WS_URL>",
      options: ["stack", "wait"],
      summary: "Check that a stream server follows the stream protocol",
      details:
        "It checks tokens, messages and every view of the stack, and exits with 1 if the server breaks a rule. --wait also checks " +
        "that a token expires, which takes the token's whole life.",
      examples: ["svc stream check wss://streams.example/transfers --stack transfers --json"],
      load: async () => (await import("../stream/check.ts")).checkStream,
    },
  },
}
