import type { Orm } from "./database.ts"

/** A statement for many requests: built and prepared once per connection. */
export const prepared = <Statement>(build: (db: Orm) => Statement): ((db: Orm) => Statement) => {
  const known = new WeakMap<Orm, Statement>()
  return (db) => {
    const statement = known.get(db) ?? build(db)
    known.set(db, statement)
    return statement
  }
}

/** The only row of a statement that always has one. */
export const theRow = <Row>([row]: readonly Row[]): Row => {
  if (row === undefined) throw new Error("a statement returned no row")
  return row
}

/**
 * Sends statements of a transaction together. The server runs them in this order, and fails all that come after a failed one: the
 * first failure, which is the cause of the others, is thrown once all have ended.
 */
export const together = async <Statements extends readonly unknown[]>(...statements: Statements) => {
  const sent = statements.map(async (statement) => statement)
  await Promise.allSettled(sent)
  return (await Promise.all(sent)) as { [Index in keyof Statements]: Awaited<Statements[Index]> }
}
