/** Serves what the account has sent to a contact, what became of it, and why it may get nothing more. */
import * as z from 'zod'
import { idKey, wireId } from '../../../lib/ids.ts'
import { foldAddress } from '../../../protocols/smtp/address.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { listOptOuts } from '../../../resources/contacts/opt-outs.ts'
import { findAccountImport } from '../../../resources/contacts/read.ts'
import { eventsOfEmails } from '../../../resources/emails/event-rows.ts'
import { findActivity } from '../../../resources/events/contact-activity.ts'
import type { EmailReader } from '../../../resources/search/reader.ts'
import { findSuppression } from '../../../resources/suppressions/suppression-rows.ts'
import type { ContactRow, Db, EventRow } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { orNotFound } from '../api-error.ts'
import { accountContactOf } from '../contacts/alias-routes.ts'
import { emailPageQuery, readEmailPage } from '../emails/list-query.ts'
import { emailEventSchema, emailEventView, emailRowSchema, emailRowView } from '../emails/schema.ts'
import { ok, type Route } from '../route/route.ts'
import { idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { suppressionSchema, suppressionView } from '../suppressions/schema.ts'

const sentEmailSchema = emailRowSchema
  .extend({
    events: z
      .array(emailEventSchema)
      .meta({ description: 'Events of the email that concern the address, oldest first.' }),
  })
  .meta({ id: 'ContactEmail' })

export const contactActivitySchema = listSchema(sentEmailSchema)
  .extend({
    suppression: suppressionSchema.nullable().meta({ description: 'Null if the address is not suppressed.' }),
    opt_outs: z.array(
      z.object({
        topic_id: idSchema('top').nullable().meta({ description: 'Null for all mail.' }),
        created_at: timeSchema,
      }),
    ),
    last_sent_at: timeSchema.nullable().meta({ description: 'Null if no email was sent to the contact.' }),
    last_opened_at: timeSchema.nullable().meta({ description: 'Opens by machines do not count.' }),
    last_clicked_at: timeSchema.nullable().meta({ description: 'Clicks by machines do not count.' }),
    source: z
      .object({
        import_id: idSchema('imp'),
        file_name: z.string().nullable(),
        row: z.int().min(1).meta({ description: 'Number of the row in the file; the header is row 1.' }),
        created_at: timeSchema,
      })
      .nullable()
      .meta({ description: 'Import that added the contact; null if it was added otherwise.' }),
  })
  .meta({ id: 'ContactActivity' })

interface ContactActivityOptions {
  store: { db: Db; find: Find }
  reader: Pick<EmailReader, 'listEmails'>
  /** Emails that ended at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
}

export function contactActivityRoutes({ store, reader, horizonOf }: ContactActivityOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/contacts/:contact_id/activity',
      access: 'session',
      scopes: ['contacts:read', 'emails:read'],
      summary: 'List the emails to the address of a contact with their events, newest first',
      query: emailPageQuery,
      replies: { 200: contactActivitySchema },
      async handle(request) {
        const page = readEmailPage(request.query)
        const contact = await accountContactOf(store, request)
        const { accountId, email } = contact
        const scope = { accountId, horizon: await horizonOf(accountId), domain: null }
        const found = await reader.listEmails({ scope, filter: { to: email }, page })
        const { total, hasMore, emails } = orNotFound(found, 'Email')
        const ids = emails.map(({ id }) => id)
        const concerning = ({ recipient }: EventRow) =>
          recipient === null || foldAddress(recipient) === foldAddress(email)
        const events = (await eventsOfEmails(store, accountId, ids)).filter(concerning)
        const byEmail = Map.groupBy(events, ({ subjectId }) => idKey(subjectId))
        const suppression = await findSuppression(store.find, accountId, { email: foldAddress(email) })
        const optOuts = await listOptOuts(store.db, { accountId, email })
        const last = await findActivity(store.db, contact.id)
        return ok({
          object: 'list',
          total,
          has_more: hasMore,
          data: emails.map(row => ({
            ...emailRowView(row),
            events: (byEmail.get(idKey(row.id)) ?? []).map(emailEventView),
          })),
          suppression: suppression ? suppressionView(suppression) : null,
          opt_outs: optOuts.map(({ topicId, saidAt }) => ({
            topic_id: topicId && wireId('top', topicId),
            created_at: timestamp(saidAt),
          })),
          last_sent_at: timestamp(last?.lastSentAt ?? null),
          last_opened_at: timestamp(last?.lastOpenedAt ?? null),
          last_clicked_at: timestamp(last?.lastClickedAt ?? null),
          source: await sourceOf(store.db, contact),
        })
      },
    },
  ]
}

/** Returns the import that has added the contact, unless it was into an audience that has been deleted. */
async function sourceOf(
  db: Db,
  { accountId, importId, importRow }: ContactRow,
): Promise<z.output<typeof contactActivitySchema>['source']> {
  const source = importId && (await findAccountImport(db, accountId, importId))
  if (!source) return null
  const { id, fileName, createdAt } = source
  return {
    import_id: wireId('imp', id),
    file_name: fileName,
    row: importRow!,
    created_at: timestamp(createdAt),
  }
}
