/** Alerts of the installation, which operators can silence for a time. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Alert, AlertTest, List } from '../api/types.ts'
import { Button, Choose } from '../components/controls.tsx'
import { confirm, Dialog, FormDialog, useAct } from '../components/dialog.tsx'
import { Failure, say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Facts, Mark } from '../components/show.tsx'
import { aboutWords, alertState, alertWords } from '../labels/alerts.ts'
import { emailsAt } from '../labels/places.ts'
import { exactTime } from '../labels/time.ts'

export function AlertsCard() {
  const alerts = useLoad<List<Alert>>('/alerts?limit=50')
  const [silenced, setSilenced] = useState<Alert>()
  const [tested, setTested] = useState<AlertTest>()
  const { error, isBusy, run } = useAct(async () => {
    setTested(await call<AlertTest>('POST', '/alerts/test'))
  })
  return (
    <>
      <ResourceList<Alert>
        title="Alerts"
        name="Alerts"
        list={alerts}
        acts={
          <Button disabled={isBusy} onClick={run}>
            {isBusy ? 'Sending …' : 'Send test alert'}
          </Button>
        }
        columns={columnsOf(alerts.reload, setSilenced)}
        keyOf={({ kind, created_at, domain }) => `${kind} ${created_at} ${domain}`}
        empty={{
          icon: 'check',
          title: 'No alerts',
          children: 'Replies that point to a poor IP reputation or failed authentication are listed here.',
        }}
      >
        {error && <Failure error={error} />}
      </ResourceList>
      {tested && <TestDialog test={tested} onClose={() => setTested(undefined)} />}
      {silenced && (
        <SilenceDialog alert={silenced} onClose={() => setSilenced(undefined)} onDone={alerts.reload} />
      )}
    </>
  )
}

const CHANNELS = { webhook: 'Webhook', email: 'Email', smart_host: 'Smart host' }

/** Says what each channel answered to a test alert. */
function TestDialog({ test, onClose }: { test: AlertTest; onClose: () => void }) {
  return (
    <Dialog title="Test alert" onClose={onClose}>
      <div class="dialog-body">
        <Facts
          rows={test.channels.map(({ channel, to, accepted, answer }) => [
            `${CHANNELS[channel]}${to ? ` to ${to}` : ''}`,
            <>
              <Mark tone={accepted ? 'good' : 'bad'}>{accepted ? 'Accepted' : 'Failed'}</Mark> {answer}
            </>,
          ])}
        />
      </div>
      <div class="dialog-acts">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

function columnsOf(reload: () => void, onSilence: (alert: Alert) => void): Column<Alert>[] {
  return [
    {
      head: 'Alert',
      text: alert => alertWords(alert).what,
      second: alertState,
    },
    { head: 'About', width: '15%', isExtra: true, text: aboutWords },
    { head: 'Server reply', width: '18%', isExtra: true, text: ({ reply }) => reply },
    timeColumn('Time', ({ created_at }) => created_at),
    actions(
      alert => (
        <>
          {alert.domain && <Link href={emailsAt(alert.domain)}>View emails</Link>}
          <Link href={alertWords(alert).href}>{alertWords(alert).act}</Link>
          {alert.silence ? (
            <Button
              small
              icon="again"
              label={`End silence: ${alertWords(alert).what}`}
              onClick={() => endSilence(alert.silence!, reload)}
            />
          ) : (
            <Button
              small
              icon="clock"
              label={`Silence: ${alertWords(alert).what}`}
              onClick={() => onSilence(alert)}
            />
          )}
        </>
      ),
      248,
    ),
  ]
}

function endSilence(
  { kind, provider, account_id, source_ip }: NonNullable<Alert['silence']>,
  reload: () => void,
): void {
  confirm({
    title: 'End this silence?',
    text: 'Operators are notified of these alerts again.',
    act: 'End silence',
    harmless: true,
    async work() {
      await call('POST', '/alerts/unsilence', { kind, provider, account_id, source_ip })
      say('The silence was ended.')
      reload()
    },
  })
}

const HOURS = [
  ['1', '1 hour'],
  ['8', '8 hours'],
  ['24', '1 day'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const
const HOUR_MS = 3_600_000

interface SilenceDialogProps {
  alert: Alert
  onClose: () => void
  onDone: () => void
}

/** Silences an alert, or all of its kind, for a time. */
function SilenceDialog({ alert, onClose, onDone }: SilenceDialogProps) {
  const [hours, setHours] = useState('8')
  const [scope, setScope] = useState<'one' | 'kind'>('one')
  const { kind, provider, account_id, source_ip } = alert
  const about = aboutWords({ ...alert, domain: null })
  return (
    <FormDialog
      title="Silence alert"
      act="Silence alert"
      onClose={onClose}
      onSubmit={async () => {
        const until = new Date(Date.now() + Number(hours) * HOUR_MS).toISOString()
        const one = scope === 'one' && { provider, account_id, source_ip }
        await call('POST', '/alerts/silence', { kind, until, ...one })
        say(`The alert is silenced until ${exactTime(until)}.`)
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <p class="quiet">
            {alertWords(alert).what} The alert is still shown here, but operators are not notified of it.
          </p>
          <Choose
            label="Duration"
            value={hours}
            options={HOURS}
            onValue={setHours}
            fault={error?.of('until')}
          />
          <Choose
            label="Alerts"
            value={scope}
            options={[
              ['one', about ? `About ${about} only` : 'This alert only'],
              ['kind', 'All alerts of this kind'],
            ]}
            onValue={value => setScope(value === 'kind' ? 'kind' : 'one')}
          />
        </>
      )}
    </FormDialog>
  )
}
