import * as assert from 'uvu/assert'
import type { Api } from '../../../../../src/interfaces/cli/import/api.ts'
import { sendgridSource } from '../../../../../src/interfaces/cli/import/providers/sendgrid.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('cli/import/providers/sendgrid')

test('import from SendGrid: the time of a suppression is in seconds, and may be missing', async () => {
  const seconds = Date.UTC(2026, 1, 3) / 1_000
  const entries = [{ email: 'ann@there.example', created: seconds }, { email: 'bob@there.example' }]
  const api = {
    get: async (_schema: unknown, path: string) =>
      path.startsWith('/v3/suppression/bounces') && path.endsWith('offset=0') ? entries : [],
  } as unknown as Api
  const found = await Array.fromAsync(sendgridSource(api, createManualClock()).suppressions!())
  assert.equal(
    found.map(({ email, at }) => [email, at]),
    [
      ['ann@there.example', Date.UTC(2026, 1, 3)],
      ['bob@there.example', null],
    ],
  )
})

test.run()
