import * as assert from 'uvu/assert'
import { hourOf } from '../../../src/resources/alerts/operator-alerts.ts'
import { insertRows } from '../../kit/database.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startWebHost } from '../../kit/web-host.ts'

const test = suite('alerts by webhook, of the whole service')
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

function addAlert(mailhorn: Mailhorn): void {
  const at = mailhorn.clock.now()
  insertRows(mailhorn, 'operator_alerts', [
    {
      ...{ hour: hourOf(at), kind: 'ip-reputation', provider: 'outlook', source_ip: '', raised_at: at },
      ...{ mx_host: null, domain: 'there.example', reply: '550 no' },
    },
  ])
}

test('an alert that was not taken before a stop is sent after the start with its id, and once it is taken no more', async t => {
  const folder = await t.using(tempFolder())
  let status = 500
  const host = await t.using(
    startWebHost({ certificate: null, answer: (_, response) => void response.writeHead(status).end() }),
  )
  const env = { MAILHORN_ALERTS_WEBHOOK_URL: `http://127.0.0.1:${host.port}/hook` }
  const start = () => startMailhorn({ dataDir: folder.path, env })
  const first = await start()
  addAlert(first)
  await untilFound(first, 'select * from alert_notices where attempts > 0')
  await until(() => host.requests.length > 0)
  await first.close()
  status = 200
  const second = await start()
  t.after(() => second.close())
  await untilFound(second, 'select * from alert_notices where due_at is null')
  const ids = new Set(host.requests.map(({ headers }) => headers['svc-id']))
  assert.is(ids.size, 1, 'each attempt has the same id')
  const body = JSON.parse(`${host.requests.at(-1)!.body}`)
  assert.equal([body.type, body.kind, body.installation], ['alert.raised', 'ip-reputation', 'mailhorn.test'])
  assert.is(body.url, `${second.baseUrl}/dashboard/deliverability`)
  const count = host.requests.length
  second.clock.advance(10 * MINUTE_MS)
  await second.signIn()
  assert.is(host.requests.length, count)
})

/** Moves the clock on until there is a row, in short steps, so that no attempt reaches its deadline. */
function untilFound(mailhorn: Mailhorn, query: string) {
  return until(() => {
    const isFound = mailhorn.rows(query).length > 0
    if (!isFound) mailhorn.clock.advance(SECOND_MS)
    return isFound
  })
}

test.run()
