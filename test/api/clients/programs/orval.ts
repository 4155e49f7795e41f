/** Makes the ten most common calls with the client of orval. */
import * as mailhorn from '../orval/client.js'
import { BASE_URL, MAIL, TOKEN } from './calls.js'

const { fetch } = globalThis
globalThis.fetch = (path, init) => fetch(new URL(String(path), BASE_URL), init)
const options = { headers: { authorization: `Bearer ${TOKEN}` } }
const email: mailhorn.SendEmailRequest = { ...MAIL, reply_to: null }

const sent = data(await mailhorn.sendEmail(email, options), 200).id
data(await mailhorn.sendEmailBatch([email, email], options), 200).data.map(({ id }) => id)
data(await mailhorn.listEmails({ limit: 3, status: 'delivered' }, options), 200)
data(await mailhorn.getEmail(sent, options), 200).recipients
const template = data(
  await mailhorn.createTemplate({ name: 'Welcome', subject: 'Hi', text: 'Hi {{name}}' }, options),
  201,
).id
data(
  await mailhorn.sendEmail(
    { from: MAIL.from, to: MAIL.to, template: { id: template, variables: { name: 'Zoe' } } },
    options,
  ),
  200,
)
const audience = data(await mailhorn.createAudience({ name: 'Readers' }, options), 201).id
data(
  await mailhorn.createAudienceContact(
    audience,
    { email: 'zoe@example.com', properties: { plan: 'pro' } },
    options,
  ),
  201,
)
const file = new File(['email\nann@example.com\n'], 'contacts.csv')
data(await mailhorn.createContactImport({ file }, options), 201)
data(await mailhorn.createDomain({ name: 'orval.example' }, options), 201).records
data(await mailhorn.listSuppressions({ q: 'ann' }, options), 200).data

/** Returns the body of a reply with this status. @throws for another status */
function data<R extends { status: number | string; data: unknown }, S extends R['status']>(
  reply: R,
  status: S,
): Extract<R, { status: S }>['data'] {
  if (reply.status !== status) throw new Error(`${reply.status}: ${JSON.stringify(reply.data)}`)
  return reply.data as Extract<R, { status: S }>['data']
}
