import * as assert from 'uvu/assert'
import { type Api, ApiFailure } from '../../../../../src/interfaces/cli/import/api.ts'
import { ImportReport } from '../../../../../src/interfaces/cli/import/report.ts'
import { createWriter } from '../../../../../src/interfaces/cli/import/writer.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('cli/import/writer')

/** Imports two webhooks into a service that refuses those at bad.example. */
async function importWebhooks({ isDryRun = false, status = 422 } = {}) {
  const sent: string[] = []
  const service = {
    get: async () => ({ data: [], has_more: false }),
    async send(_schema: unknown, _method: string, path: string, body: { endpoint?: string; url?: string }) {
      const text = JSON.stringify(body)
      sent.push(path)
      if (text.includes('bad.example')) throw new ApiFailure('It is refused.', status, { message: 'No.' })
      return { id: 'w', url: 'https://good.example/', signing_secret: 's' }
    },
  } as unknown as Api
  const report = new ImportReport('Resend', isDryRun)
  const clock = createManualClock()
  const writer = createWriter({ service, report, isDryRun, provider: 'resend', clock })
  async function* webhooks() {
    for (const url of ['https://good.example/', 'https://bad.example/'])
      yield { url, events: ['email.sent'], unknownEvents: [] }
  }
  const failure = await writer.webhooks(webhooks()).then(
    () => null,
    error => error.message as string,
  )
  const { made, madeCount, unmade } = report.of('webhooks')
  return { failure, sent, made, madeCount, unmade: unmade.map(({ name }) => name) }
}

test('import: what was made and what was refused is in the report', async () => {
  const { failure, made, madeCount, unmade, sent } = await importWebhooks()
  assert.equal([failure, made, madeCount], [null, ['https://good.example/'], 1])
  assert.equal([unmade, sent.length], [['https://bad.example/'], 2])
})

test('import: a dry run counts everything as made, and sends nothing', async () => {
  const { made, sent } = await importWebhooks({ isDryRun: true })
  assert.equal([made, sent], [['https://good.example/', 'https://bad.example/'], []])
})

test('import: a failure that concerns everything ends the kind, and is no refusal of one thing', async () => {
  const { failure, made, unmade } = await importWebhooks({ status: 503 })
  assert.equal([failure, made, unmade], ['It is refused.', ['https://good.example/'], []])
})

test.run()
