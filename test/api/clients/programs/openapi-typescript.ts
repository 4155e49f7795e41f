/** Makes the ten most common calls with types of openapi-typescript. */
import createClient from 'openapi-fetch'
import type { components, paths } from '../openapi-typescript/schema.js'
import { BASE_URL, check, MAIL, TOKEN } from './calls.js'

const client = createClient<paths>({ baseUrl: BASE_URL, headers: { authorization: `Bearer ${TOKEN}` } })
const email: components['schemas']['SendEmailRequest'] = { ...MAIL, reply_to: null }

const sent = check(await client.POST('/emails', { body: email })).id
check(await client.POST('/emails/batch', { body: [email, email] })).data.map(({ id }) => id)
check(await client.GET('/emails', { params: { query: { limit: 3, status: 'delivered' } } }))
check(await client.GET('/emails/{id}', { params: { path: { id: sent } } })).recipients
const template = check(
  await client.POST('/templates', { body: { name: 'Welcome', subject: 'Hi', text: 'Hi {{name}}' } }),
).id
check(
  await client.POST('/emails', {
    body: { from: MAIL.from, to: MAIL.to, template: { id: template, variables: { name: 'Zoe' } } },
  }),
)
const audience = check(await client.POST('/audiences', { body: { name: 'Readers' } })).id
check(
  await client.POST('/audiences/{id}/contacts', {
    params: { path: { id: audience } },
    body: { email: 'zoe@example.com', properties: { plan: 'pro' } },
  }),
)
check(
  await client.POST('/contacts/imports', {
    body: { file: 'email\nann@example.com\n' },
    bodySerializer: ({ file }) => {
      const form = new FormData()
      form.append('file', new Blob([file]), 'contacts.csv')
      return form
    },
  }),
)
check(await client.POST('/domains', { body: { name: 'openapi-typescript.example' } })).records
check(await client.GET('/suppressions', { params: { query: { q: 'ann' } } })).data
