CREATE TABLE "stack_modules" (
	"line" text NOT NULL,
	"number" integer NOT NULL,
	"language" text NOT NULL,
	"name" text NOT NULL,
	"gzip" "bytea" NOT NULL,
	CONSTRAINT "stack_modules_line_number_language_pk" PRIMARY KEY("line","number","language")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "claims" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_of_spec" ON "jobs" USING btree ("kind","spec_id","record_id");