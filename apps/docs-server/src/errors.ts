import { defineErrors } from "@svc/errors"
import { messageBounds } from "./mcp/json-rpc.ts"

const seeDocuments = "See /openapi.json for the routes of this server and /llms.txt for its pages."

export const errors = defineErrors({
  invalid_request: {
    status: 400,
    message: "The request body isn't a JSON-RPC 2.0 message.",
    hint: 'POST one JSON object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}; see /openapi.json.',
  },
  forbidden: {
    status: 403,
    message: "The Host or Origin header names a host that this server doesn't serve.",
    hint: "Use the server's own address, or add the name to SVC_ALLOWED_HOSTS; pages are listed in /llms.txt.",
  },
  not_found: {
    status: 404,
    message: "There is nothing at this path.",
    hint: "All pages are listed in /llms.txt, all routes in /openapi.json; the tool search_docs at /mcp finds pages by words.",
  },
  method_not_allowed: {
    status: 405,
    message: "The method is not allowed here.",
    hint: `Use a method of the Allow header. ${seeDocuments}`,
  },
  request_too_large: {
    status: 413,
    message: `The request body is larger than ${messageBounds.bytes / 1024} KiB.`,
    hint: "Calls of search_docs and fetch_page need a few hundred bytes; see /openapi.json.",
  },
  unsupported_media_type: {
    status: 415,
    message: "The request body must be JSON.",
    hint: "Send JSON in UTF-8, uncompressed, with the header Content-Type: application/json; see /openapi.json.",
  },
  rate_limited: {
    status: 429,
    message: "Too many requests from this address.",
    hint: "Wait as long as Retry-After says; /llms-full.txt has all pages in one response.",
  },
  internal_error: {
    status: 500,
    message: "The server couldn't handle the request.",
    hint: "Try again; if it stays so, tell the operator the X-Request-Id. /llms.txt lists the pages.",
  },
})

export type ErrorCode = keyof typeof errors.rows
