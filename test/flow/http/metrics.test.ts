import * as assert from 'uvu/assert'
import { recordMade } from '../../../src/store/backup/record.ts'
import { isOnPostgres } from '../../kit/database.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('metrics')
const TOKEN = 'metrics-token'
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn({
    env: { MAILHORN_METRICS_TOKEN: TOKEN, MAILHORN_WEBHOOKS_ALLOW_INSECURE_LOOPBACK: 'true' },
  })
})
test.after(() => mailhorn.close())

/** Samples by name and labels. */
async function samples(): Promise<Map<string, number>> {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const { status, body } = await mailhorn.call('GET', '/metrics', { headers })
  assert.is(status, 200)
  const lines = (body as string).match(/^[^#\n].*/gm)!
  return new Map(
    lines.map(line => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

/** Waits for the figures of the writer, which arrive about once a second. */
async function whenSample(name: string, expected: number) {
  await until(async () => (await samples()).get(name) === expected)
}

test('all counters with known labels are there before anything has happened', async () => {
  const first = await samples()
  for (const name of [
    'mailhorn_emails_accepted_total',
    'mailhorn_deliveries_total{result="delivered"}',
    'mailhorn_deliveries_total{result="deferred"}',
    'mailhorn_deliveries_total{result="bounced"}',
    'mailhorn_deliveries_total{result="failed"}',
    'mailhorn_deliveries_total{result="suppressed"}',
    'mailhorn_webhook_attempts_total{result="delivered"}',
    'mailhorn_webhook_attempts_total{result="failed"}',
    'mailhorn_http_requests_total{class="5xx"}',
    'mailhorn_inbound_listed_total',
    'mailhorn_smtp_taken_total{listener="inbound"}',
    'mailhorn_sign_in_attempts_total{protocol="http",result="wrong"}',
    'mailhorn_threads_lost_total{thread="inbound"}',
    'mailhorn_logged_requests_dropped_total',
    ...['never_tried', 'deferred', 'in_progress', 'held'].map(
      state => `mailhorn_queue_deliveries{class="broadcast",state="${state}"}`,
    ),
    'mailhorn_queue_oldest_seconds{class="transactional"}',
    'mailhorn_delivery_session_errors_total{phase="tls"}',
    'mailhorn_delivery_attempt_duration_seconds_count',
    'mailhorn_webhook_deliveries_waiting',
    'mailhorn_operator_alerts_active{kind="backup"}',
  ])
    assert.is(first.get(name), 0, name)
  assert.ok([...first.keys()].some(name => /^mailhorn_build_info\{version="\d+\.\d+/.test(name)))
})

for (const [local, result] of [
  ['delivered', 'delivered'],
  ['bounced', 'bounced'],
  ['failed', 'failed'],
  ['suppressed', 'suppressed'],
] as const)
  test(`mail to ${local}@ counts as ${result}`, async () => {
    const name = `mailhorn_deliveries_total{result="${result}"}`
    const before = await samples()
    const to = `${local}@simulator.test`
    await mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hello' })
    await whenSample(name, before.get(name)! + 1)
    const accepted = 'mailhorn_emails_accepted_total'
    assert.is((await samples()).get(accepted), before.get(accepted)! + 1)
  })

test('HTTP requests count by class and duration', async () => {
  const before = await samples()
  await mailhorn.call('GET', '/nowhere')
  const after = await samples()
  const grown = (name: string) => after.get(name)! - before.get(name)!
  assert.is(grown('mailhorn_http_requests_total{class="4xx"}'), 1)
  assert.is(grown('mailhorn_http_requests_total{class="2xx"}'), 1)
  assert.is(grown('mailhorn_http_request_duration_seconds_count'), 2)
  assert.is(grown('mailhorn_http_request_duration_seconds_bucket{le="+Inf"}'), 2)
})

test('batches of the database are counted', async () => {
  const { body } = await mailhorn.call('GET', '/emails', { key: mailhorn.apiKey })
  assert.ok(body.total > 0)
  const figures = await samples()
  const batches = figures.get('mailhorn_database_batch_duration_seconds_count')!
  assert.ok(batches > 0)
  assert.ok(figures.get('mailhorn_database_commands_total')! >= batches)
})

test('the machine, the database and what runs out are measured', async () => {
  const figures = await samples()
  for (const name of [
    'process_open_fds',
    'process_max_fds',
    'mailhorn_disk_free_bytes',
    'mailhorn_disk_size_bytes',
    ...(isOnPostgres ? [] : ['mailhorn_database_file_bytes', 'mailhorn_database_wal_bytes']),
    'mailhorn_database_batch_commands_count',
  ])
    assert.ok(figures.get(name)! > 0, name)
  assert.ok(figures.has('mailhorn_event_loop_delay_seconds_count'))
  assert.ok(figures.get('mailhorn_certificate_expiry_timestamp_seconds')! > mailhorn.clock.now() / 1_000)
  assert.not.ok(figures.has('mailhorn_backup_age_seconds'), 'no backup was made')
})

test('the age of the last backup is measured', async () => {
  recordMade(mailhorn.dataDir, '/backups/20261128T003000Z', mailhorn.clock.now() - 3_600_000)
  const age = (await samples()).get('mailhorn_backup_age_seconds')!
  assert.ok(age >= 3_600 && age < 3_700, String(age))
})

test('attempts count by result, provider and class', async () => {
  await mailhorn.send({
    from: 'ann@here.example',
    to: 'bounced@simulator.test',
    subject: 'hi',
    text: 'hello',
  })
  await until(async () =>
    [...(await samples()).keys()].some(name =>
      /^mailhorn_delivery_attempts_total\{result="bounced",provider="none",class="[a-z-]+"\}$/.test(name),
    ),
  )
})

test('metrics need their token', async () => {
  assertRefusal(await mailhorn.call('GET', '/metrics'), { status: 401, name: 'invalid_access' })
})

test.run()
