CREATE TABLE "key_usage" (
	"key_id" integer NOT NULL,
	"day" date NOT NULL,
	"requests" integer NOT NULL,
	"refused" integer NOT NULL,
	"sessions" integer NOT NULL,
	CONSTRAINT "key_usage_key_id_day_pk" PRIMARY KEY("key_id","day")
);
--> statement-breakpoint
ALTER TABLE "key_usage" ADD CONSTRAINT "key_usage_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "key_usage_day" ON "key_usage" USING btree ("day");
