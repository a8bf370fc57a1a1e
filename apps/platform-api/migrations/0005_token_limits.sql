CREATE TABLE "token_limits" (
	"subject" text PRIMARY KEY NOT NULL,
	"max_transaction_inspect_requests_per_minute" integer,
	"max_transaction_send_requests_per_minute" integer,
	"max_transaction_status_requests_per_minute" integer,
	"max_transaction_request_bytes" integer,
	"max_transaction_bytes" integer,
	"max_transaction_concurrency" integer
);
