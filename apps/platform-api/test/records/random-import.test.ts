import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { describe, expect, test } from "vitest"
import { failureOf } from "../../src/operator/failure.ts"
import { beforeTests, databaseKinds, testService } from "../service.ts"
import { countRows, importInto } from "./importing.ts"
import { smallAst } from "../registry/small-ast.ts"

const steps = ["uploading", "queued", "building", "pushing", "deploying", "completed"]

// References are right nine times of ten, events mostly in their order: about every second document is good.
const refIn = (max: number) =>
  fc.oneof({ weight: 20, arbitrary: fc.nat(max) }, { weight: 1, arbitrary: fc.constant(99) })
const text = fc.oneof(
  { weight: 30, arbitrary: fc.string({ minLength: 1, unit: "grapheme", maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
)
const at = (index: number) => new Date(Date.UTC(2026, 10, 20, 0, 0, index)).toISOString()

const buildShape = fc.record({
  spec: refIn(1),
  version: fc.option(fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 2 }) }, fc.constant(3))),
  branch: fc.option(text),
  length: fc.nat(steps.length),
  skip: fc.oneof({ weight: 20, arbitrary: fc.constant(-1) }, fc.nat(steps.length)),
  end: fc.constantFrom(undefined, "failed", "cancelled"),
})

const documentShape = fc.record({
  versions: fc.tuple(fc.integer({ min: 2, max: 3 }), fc.integer({ min: 2, max: 3 })),
  builds: fc.array(buildShape, { maxLength: 5 }),
  deployments: fc.array(
    fc.record({
      spec: refIn(1),
      branch: fc.option(text),
      status: fc.constantFrom("active", "updating", "stopped", "failed"),
    }),
    { maxLength: 3 },
  ),
  runs: fc.array(fc.record({ workflow: text, retryOf: fc.option(refIn(0), { freq: 2 }) }), { maxLength: 4 }),
})

type Shape = typeof documentShape extends fc.Arbitrary<infer T> ? T : never

const documentOf = (owner: string, { versions, builds, deployments, runs }: Shape) => ({
  owner,
  specs: versions.map((count, index) => ({
    ref: `s${index}`,
    name: `Spec ${index}`,
    entity_name: "Thing",
    versions: Array.from({ length: count }, () => ({ ast_payload: smallAst() })),
  })),
  builds: builds.map(({ spec, version, branch, length, skip, end }, index) => ({
    ref: `b${index}`,
    spec: `s${spec}`,
    version,
    branch,
    created_at: at(0),
    events: [
      ...steps.slice(0, length).filter((_, position) => position !== skip),
      ...(end === undefined ? [] : [end]),
    ].map((new_status, position) => ({ event_type: "status", new_status, at: at(position + 1) })),
  })),
  deployments: deployments.map(({ spec, branch, status }, index) => ({
    ref: `d${index}`,
    spec: `s${spec}`,
    branch,
    events: [{ event_type: "status", new_status: status, at: at(0) }],
  })),
  runs: runs.map(({ workflow, retryOf }, index) => ({
    ref: `r${index}`,
    workflow,
    trigger: "event",
    ...(retryOf === null ? {} : { retry_of: `r${retryOf}` }),
    created_at: at(0),
  })),
})

describe.each(databaseKinds)("random documents on %s", (kind) => {
  const service = testService(kind)
  const owner = beforeTests(() => service.signUp())

  test("are taken whole, each record as its last event left it, or leave nothing behind but a place and a reason", async () => {
    const outcomes = { taken: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(documentShape, async (shape) => {
        const document = documentOf(owner.slug, shape)
        const before = await countRows(service)
        try {
          const ids = await importInto(service, document)
          outcomes.taken++
          const events = document.builds.flatMap((build) => build.events).length
          expect(await countRows(service)).toEqual({
            ...before,
            specs: (before["specs"] ?? 0) + document.specs.length,
            spec_versions: (before["spec_versions"] ?? 0) + document.specs.flatMap((spec) => spec.versions).length,
            builds: (before["builds"] ?? 0) + document.builds.length,
            build_events: (before["build_events"] ?? 0) + events,
            deployments: (before["deployments"] ?? 0) + document.deployments.length,
            deployment_events: (before["deployment_events"] ?? 0) + document.deployments.length,
            runs: (before["runs"] ?? 0) + document.runs.length,
            audit_log: (before["audit_log"] ?? 0) + 1,
          })
          for (const build of document.builds) {
            const { body } = await service.call("GET", `/api/builds/${ids.builds[build.ref]}`, { key: owner.key })
            expect([body.status, body.branch]).toEqual([build.events.at(-1)?.new_status ?? "pending", build.branch])
          }
        } catch (error) {
          const failure = failureOf(error)
          if (failure["code"] !== "invalid-records") throw error
          outcomes.refused++
          expect(failure["details"]).toEqual({
            path: expect.stringMatching(/^(builds|deployments|runs)\[/),
            reason: expect.any(String),
          })
          expect(await countRows(service)).toEqual(before)
        }
      }),
      { numRuns: process.env["SVC_FUZZ"] === "full" ? 100 : 40 },
    )
    // Both happened, so both were looked at.
    expect(Math.min(outcomes.taken, outcomes.refused)).toBeGreaterThan(5)
  })
})
