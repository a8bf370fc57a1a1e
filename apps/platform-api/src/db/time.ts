/**
 * A timestamp as PostgreSQL writes it in UTC (`2026-11-21 01:02:03.4+00`) as RFC 3339 with milliseconds. Done by hand,
 * because it stands on the way of every authenticated request.
 */
export const isoTime = (text: string): string =>
  `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, "0").slice(0, 3)}Z`
