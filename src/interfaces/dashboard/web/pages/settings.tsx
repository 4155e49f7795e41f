/** Settings page: password and active sessions of the user. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Installation, List, SessionRow } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { confirm, useAct } from '../components/dialog.tsx'
import { Failure, say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Card, Facts, Head, Mark } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { programOf } from '../labels/programs.ts'
import { timeZone } from '../labels/time.ts'

const SHORTEST_PASSWORD = 8

export function Settings() {
  const sessions = useLoad<List<SessionRow>>('/auth/sessions')
  return (
    <>
      <Head title="Settings" />
      <div class="halves">
        <Password onChanged={sessions.reload} />
        <AboutCard />
      </div>
      <ResourceList<SessionRow>
        title="Active sessions"
        lead="If you do not recognize a session, end it and change your password."
        name="Sessions"
        list={sessions}
        columns={columnsOf(sessions.reload)}
        keyOf={({ id }) => id}
        empty={{ icon: 'settings', title: 'No sessions' }}
      />
    </>
  )
}

function Password({ onChanged }: { onChanged: () => void }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const { error, isBusy, run } = useAct(async () => {
    const { sessions_ended: ended } = await call<{ sessions_ended: number }>('POST', '/auth/password', {
      current_password: current,
      new_password: next,
    })
    setCurrent('')
    setNext('')
    say(
      ended > 0
        ? `Password changed. ${counted(ended, 'other session was', 'other sessions were')} ended.`
        : 'Password changed.',
    )
    onChanged()
  })
  return (
    <Card title="Password" lead="Changing the password ends all other sessions.">
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          void run()
        }}
      >
        <input type="text" autocomplete="username" value={signedIn().user.email} hidden readOnly />
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
          value={current}
          onValue={setCurrent}
          fault={error?.of('current_password')}
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          required
          minLength={SHORTEST_PASSWORD}
          hint={`At least ${SHORTEST_PASSWORD} characters. Use a passphrase of several random words.`}
          value={next}
          onValue={setNext}
          fault={error?.of('new_password')}
        />
        {error && !error.isShown && <Failure error={error} />}
        <div>
          <Button type="submit" kind="main" disabled={isBusy}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  )
}

function AboutCard() {
  const { user, account } = signedIn()
  const { data } = useLoad<Installation>('/installation')
  return (
    <Card title="About">
      <Facts
        rows={[
          ['User', user.email],
          ['Account', account.name],
          ['Time zone', `${timeZone} (from your browser)`],
          [
            'API base URL',
            <span key="api" class="mono">
              {data?.base_url ?? '…'}
            </span>,
          ],
          [
            'Provider host',
            <span key="host" class="mono">
              {data?.mail_host ?? '…'}
            </span>,
          ],
          [
            'Simulator domain',
            <span key="sim" class="mono">
              {data?.simulator_domain ?? '…'}
            </span>,
          ],
          ['Version', data?.version ?? '…'],
          [
            'Keyboard shortcuts',
            <span key="keys">
              Press <kbd>?</kbd> to list them.
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

function columnsOf(reload: () => void): Column<SessionRow>[] {
  const end = ({ id }: SessionRow) =>
    confirm({
      title: 'End this session?',
      text: 'The device or script has to sign in again.',
      act: 'End session',
      async work() {
        await call('DELETE', `/auth/sessions/${id}`)
        say('The session was ended.')
        reload()
      },
    })
  return [
    {
      head: 'Client',
      cell: ({ kind, current, user_agent }) => (
        <span title={user_agent ?? ''}>
          {programOf(user_agent) ?? (kind === 'cookie' ? 'Browser' : 'Script')}{' '}
          {current && <Mark tone="good">Current</Mark>}
        </span>
      ),
    },
    { head: 'Address', width: '22%', text: ({ client_address }) => client_address ?? '–' },
    timeColumn('Signed in', ({ created_at }) => created_at, '–', true),
    timeColumn('Last seen', ({ last_seen_at }) => last_seen_at),
    actions(
      session =>
        !session.current && (
          <Button small onClick={() => end(session)}>
            End session
          </Button>
        ),
      128,
    ),
  ]
}
