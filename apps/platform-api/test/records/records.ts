// Records of accounts, put into the database as the worker would leave them.
import { prepareVersion } from "../../src/compiler/tasks.ts"
import { eq, type Orm, theRow } from "../../src/db/database.ts"
import * as tables from "../../src/db/schema/index.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { entity, field, smallAst } from "../registry/small-ast.ts"
import type { TestService } from "../service.ts"

export const insertedAt = new Date("2026-11-21T08:00:00.123Z")

/** An AST whose entity `Order` has 3 handlers and 2 sections, beside another entity. */
const orderAst = (ast_version: string) =>
  smallAst({
    ast_version,
    stack_name: "OrderStream",
    entities: [
      entity("Order", {
        program_id: "Prog1111",
        handlers: [{}, {}, {}],
        sections: [
          { name: "id", fields: [field("address", "String")] },
          { name: "root", fields: [field("price", "Option<u64>")] },
        ],
      }),
      entity("Trader"),
    ],
  })

type Table =
  | typeof tables.specs
  | typeof tables.specVersions
  | typeof tables.builds
  | typeof tables.deployments
  | typeof tables.runs

const insert = async <T extends Table>(tx: Orm, table: T, row: T["$inferInsert"]): Promise<number> => {
  const inserted = tx.insert(table as typeof tables.builds).values(row as typeof tables.builds.$inferInsert)
  return theRow(await inserted.returning({ id: table.id })).id
}

/** The account of an agent's slug or a person's e-mail address. */
const accountOf = async (tx: Orm, who: string): Promise<number> =>
  theRow(
    who.includes("@")
      ? await tx.select({ id: tables.users.id }).from(tables.users).where(eq(tables.users.email, who))
      : await tx
          .select({ id: tables.agentProfiles.userId })
          .from(tables.agentProfiles)
          .where(eq(tables.agentProfiles.slug, who)),
  ).id

const shareTables = {
  spec: tables.specShares,
  build: tables.buildShares,
  deployment: tables.deploymentShares,
  run: tables.runShares,
}

const share = async (tx: Orm, kind: keyof typeof shareTables, ids: readonly number[], viewers: readonly string[]) => {
  for (const viewer of viewers) {
    const userId = await accountOf(tx, viewer)
    await tx.insert(shareTables[kind]).values(ids.map((recordId) => ({ userId, recordId })))
  }
}

const insertSpec = (tx: Orm, ownerId: number, given: { name: string; urlSlug: string; websocketUrl?: string }) =>
  insert(tx, tables.specs, {
    ...given,
    ownerId,
    entityName: "Order",
    description: "Every order",
    latestVersion: 0,
    createdAt: insertedAt,
    updatedAt: insertedAt,
  })

const second = (seconds: number): Date => new Date(Date.UTC(2026, 10, 20, 10) + seconds * 1000)

const orders2 = "wss://streams.example/orders-2"

const insertVersion = async (tx: Orm, specId: number, versionNumber: number) => {
  const { entities, ...prepared } = prepareVersion(parseAst(orderAst(`0.0.${versionNumber}`)))
  const row = { ...prepared, ...theRow(entities), specId, versionNumber, createdAt: insertedAt }
  return insert(tx, tables.specVersions, row)
}

/** One record of every kind with every field, and a retry of the run. Returns their ids. */
export const insertRecords = (service: TestService, owner: string, viewers: readonly string[] = []) =>
  service.database().transaction(async (tx) => {
    const ownerId = await accountOf(tx, owner)
    const spec = await insertSpec(tx, ownerId, {
      name: "Orders of the day",
      urlSlug: "orders",
      websocketUrl: "wss://streams.example/orders",
    })
    await insertVersion(tx, spec, 1)
    const specVersionId = await insertVersion(tx, spec, 2)
    const build = await insert(tx, tables.builds, {
      ownerId,
      specId: spec,
      specVersionId,
      status: "pending",
      progress: 40,
      statusMessage: "Compiling",
      websocketUrl: orders2,
      createdAt: second(0.999),
    })
    await tx.insert(tables.buildEvents).values([
      { buildId: build, eventType: "status", newStatus: "uploading", phase: "UPLOAD", createdAt: second(1) },
      { buildId: build, eventType: "log", phase: "SCAN", createdAt: second(2) },
      { buildId: build, eventType: "status", newStatus: "failed", phase: "SCANNED", createdAt: second(3.5) },
    ])
    const deployed = { ownerId, specId: spec, stackName: "orders", websocketUrl: orders2, currentBuildId: build }
    const deployment = await insert(tx, tables.deployments, deployed)
    const ofDeployment = { deploymentId: deployment, buildId: build, eventType: "status", actor: "system" } as const
    const created = { ...ofDeployment, eventType: "created", actor: "user" } as const
    await tx.insert(tables.deploymentEvents).values([
      { ...created, newStatus: "updating", message: "Go", createdAt: second(10) },
      { ...ofDeployment, newStatus: "active", createdAt: second(15) },
      { ...ofDeployment, eventType: "note", message: "Seen by nobody", createdAt: second(16) },
      { ...ofDeployment, newStatus: "updating", createdAt: second(17) },
      { ...ofDeployment, newStatus: "active", message: "Up again", createdAt: second(18) },
    ])
    const run = { ownerId, specId: spec, specVersionId, workflow: "nightly", status: "queued" } as const
    const first = await insert(tx, tables.runs, {
      ...run,
      trigger: "schedule",
      deploymentId: deployment,
      attempt: 3,
      errorCode: "no-space",
      errorMessage: "The disk\nis full",
      createdAt: second(20),
    })
    await tx.insert(tables.runEvents).values([
      { runId: first, newStatus: "running", createdAt: second(21) },
      { runId: first, newStatus: "failed", createdAt: second(22) },
    ])
    const at = { startedAt: second(21), completedAt: second(21) }
    await tx.insert(tables.runSteps).values([
      { runId: first, position: 0, name: "fetch", status: "succeeded", ...at },
      { runId: first, position: 1, name: "write", status: "failed", errorMessage: "No space" },
    ])
    const again = { ...run, trigger: "manual", attempt: 4, retryOfId: first, createdAt: second(30) } as const
    const retry = await insert(tx, tables.runs, again)
    await share(tx, "spec", [spec], viewers)
    await share(tx, "build", [build], viewers)
    await share(tx, "deployment", [deployment], viewers)
    await share(tx, "run", [first, retry], viewers)
    return { spec, build, deployment, run: first, retry }
  })

/** As many builds of one spec as asked for. Returns their ids, ascending, and the spec's. */
export const insertBuilds = (
  service: TestService,
  owner: string,
  count: number,
  viewers: readonly string[] = [],
): Promise<{ readonly spec: number; readonly builds: readonly number[] }> =>
  service.database().transaction(async (tx) => {
    const ownerId = await accountOf(tx, owner)
    const spec = await insertSpec(tx, ownerId, { name: "Many", urlSlug: "many" })
    const specVersionId = await insertVersion(tx, spec, 1)
    const build = { ownerId, specId: spec, specVersionId, status: "pending", createdAt: insertedAt } as const
    const rows = await tx
      .insert(tables.builds)
      .values(Array.from({ length: count }, () => build))
      .returning({ id: tables.builds.id })
    const builds = rows.map(({ id }) => id)
    await share(tx, "spec", [spec], viewers)
    await share(tx, "build", builds, viewers)
    return { spec, builds }
  })
