import { entity, field, smallAst } from "../registry/small-ast.ts"

/** An AST whose entity `Order` has 3 handlers and 2 sections, beside another entity. */
export const orderAst = (rest: object = {}) =>
  smallAst({
    stack_name: "OrderStream",
    entities: [
      entity("Trader"),
      entity("Order", {
        program_id: "Prog1111",
        handlers: [{}, {}, {}],
        sections: [
          { name: "id", fields: [field("address", "String")] },
          { name: "root", fields: [field("price", "Option<u64>")] },
        ],
      }),
    ],
    ...rest,
  })

/** One record of every kind with all that the format knows, but for what is given. */
export const sampleDocument = (owner: string, rest: object = {}) => ({
  owner,
  shared_with: [] as string[],
  specs: [
    {
      ref: "spec",
      name: "Orders of the day",
      entity_name: "Order",
      description: "Every order",
      url_slug: "orders",
      websocket_url: "WSS://Streams.example:443/orders/",
      versions: [{ ast_payload: orderAst() }, { ast_payload: orderAst({ ast_version: "0.0.2" }) }],
    },
  ],
  builds: [
    {
      ref: "build",
      spec: "spec",
      version: 2,
      branch: "main",
      progress: 40,
      status_message: "Compiling",
      websocket_url: "wss://streams.example/orders-2",
      created_at: "2026-11-20T10:00:00.9999Z",
      events: [
        { event_type: "status", new_status: "uploading", phase: "UPLOAD", at: "2026-11-20T12:00:01+02:00" },
        { event_type: "log", phase: "SCAN", at: "2026-11-20T10:00:02Z" },
        { event_type: "status", new_status: "failed", phase: "SCANNED", at: "2026-11-20T10:00:03.5Z" },
      ],
    },
  ],
  deployments: [
    {
      ref: "deployment",
      spec: "spec",
      build: "build",
      branch: null,
      events: [
        { event_type: "created", new_status: "updating", at: "2026-11-20T11:00:00Z", actor: "user", message: "Go" },
        { event_type: "status", new_status: "active", at: "2026-11-20T11:00:05Z", actor: "system" },
        { event_type: "note", at: "2026-11-20T11:00:06Z", message: "Seen by nobody" },
        { event_type: "status", new_status: "updating", at: "2026-11-20T11:00:07Z" },
        { event_type: "status", new_status: "active", at: "2026-11-20T11:00:08Z", message: "Up again" },
      ],
    },
  ],
  runs: [
    {
      ref: "first",
      workflow: "nightly",
      trigger: "schedule",
      spec: "spec",
      deployment: "deployment",
      attempt: 3,
      error_code: "no-space",
      error_message: "The disk\nis full",
      created_at: "2026-11-20T12:00:00Z",
      events: [
        { new_status: "running", at: "2026-11-20T12:00:01Z" },
        { new_status: "failed", at: "2026-11-20T12:00:02Z" },
      ],
      steps: [
        {
          name: "fetch",
          status: "succeeded",
          started_at: "2026-11-20T12:00:01Z",
          completed_at: "2026-11-20T12:00:01Z",
        },
        { name: "write", status: "failed", error_message: "No space" },
      ],
    },
    { ref: "second", workflow: "nightly", trigger: "manual", retry_of: "first", created_at: "2026-11-20T13:00:00Z" },
  ],
  ...rest,
})

/** A document with as many builds of one spec as asked for. */
export const manyBuilds = (owner: string, count: number, rest: object = {}) => ({
  owner,
  specs: [{ ref: "s", name: "Many", entity_name: "Thing", versions: [{ ast_payload: smallAst() }] }],
  builds: Array.from({ length: count }, (_, index) => ({
    ref: `b${index}`,
    spec: "s",
    created_at: "2026-11-20T10:00:00Z",
  })),
  ...rest,
})
