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
