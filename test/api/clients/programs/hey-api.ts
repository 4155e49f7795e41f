/** Makes the ten most common calls with the client of hey-api. */
import { client } from '../hey-api/client.gen.js'
import * as mailhorn from '../hey-api/sdk.gen.js'
import type { SendEmailRequest } from '../hey-api/types.gen.js'
import { BASE_URL, check, MAIL, TOKEN } from './calls.js'

client.setConfig({ baseUrl: BASE_URL, auth: TOKEN })
const email: SendEmailRequest = { ...MAIL, reply_to: null }

const sent = check(await mailhorn.sendEmail({ body: email })).id
check(await mailhorn.sendEmailBatch({ body: [email, email] })).data.map(({ id }) => id)
check(await mailhorn.listEmails({ query: { limit: 3, status: 'delivered' } }))
check(await mailhorn.getEmail({ path: { id: sent } })).recipients
const template = check(
  await mailhorn.createTemplate({ body: { name: 'Welcome', subject: 'Hi', text: 'Hi {{name}}' } }),
).id
check(
  await mailhorn.sendEmail({
    body: { from: MAIL.from, to: MAIL.to, template: { id: template, variables: { name: 'Zoe' } } },
  }),
)
const audience = check(await mailhorn.createAudience({ body: { name: 'Readers' } })).id
check(
  await mailhorn.createAudienceContact({
    path: { id: audience },
    body: { email: 'zoe@example.com', properties: { plan: 'pro' } },
  }),
)
check(
  await mailhorn.createContactImport({
    body: { file: new File(['email\nann@example.com\n'], 'contacts.csv') },
  }),
)
check(await mailhorn.createDomain({ body: { name: 'hey-api.example' } })).records
check(await mailhorn.listSuppressions({ query: { q: 'ann' } })).data
