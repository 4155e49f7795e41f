import * as assert from 'uvu/assert'
import { allRoutes } from '../../../kit/routes.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('routes while the service is read-only')

/** Written by hand: what asks by another method than GET, or must always be possible. */
const ANSWERED = [
  'POST /audiences/:id/contacts/import/preview',
  'POST /audiences/:id/segments/count',
  'POST /auth/login',
  'POST /auth/logout',
  'POST /broadcasts/:id/lint',
  'POST /inbound/routes/test',
  'POST /installation/backups/run',
  'POST /installation/backups/verify',
  'PUT /installation/mode',
  'POST /installation/smtp-test',
  'POST /setup/checks',
  'POST /setup/plan',
  'POST /u/:token',
]

test('read-only: every GET is answered, and of the other routes those of the table', async () => {
  const routes = await allRoutes()
  const isAnswered = ({ method, whileReadOnly = method === 'GET' }: (typeof routes)[number]) => whileReadOnly
  const nameOf = ({ method, path }: (typeof routes)[number]) => `${method} ${path}`
  assert.equal(routes.filter(route => route.method === 'GET' && !isAnswered(route)).map(nameOf), [])
  assert.equal(
    routes
      .filter(route => route.method !== 'GET' && isAnswered(route))
      .map(nameOf)
      .sort(),
    ANSWERED.toSorted(),
  )
})

test.run()
