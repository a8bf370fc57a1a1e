CREATE TABLE "key_secrets" (
	"id" integer PRIMARY KEY NOT NULL,
	"secret" "bytea" NOT NULL,
	CONSTRAINT "key_secrets_one_row" CHECK ("key_secrets"."id" = 1)
);

--> statement-breakpoint
INSERT INTO "key_secrets" ("id", "secret") VALUES (1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
