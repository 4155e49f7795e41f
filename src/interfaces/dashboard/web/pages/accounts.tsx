/** Accounts page, for operators. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import { signedIn } from '../api/session.ts'
import type { Account, AccountWithPassword, Installation } from '../api/types.ts'
import { Button, Choose, TextField } from '../components/controls.tsx'
import { confirm, FormDialog, ShownOnce } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'

const SUSPENDED = 'The account is suspended.'

type Open =
  | { kind: 'add' }
  | { kind: 'change'; account: Account }
  | { kind: 'secret'; account: AccountWithPassword }
  | { kind: 'delete'; account: Account }

export function Accounts() {
  const query = useQuery()
  const [open, setOpen] = useState<Open>()
  const list = usePaged<Account>('/accounts', query)
  const installation = useLoad<Installation>('/installation')
  const plans = installation.data?.plans ?? []
  const done = (next?: Open) => {
    setOpen(next)
    list.reload()
  }
  return (
    <>
      <Head title="Accounts">
        <Button kind="main" icon="plus" onClick={() => setOpen({ kind: 'add' })}>
          Create account
        </Button>
      </Head>
      <ResourceList<Account>
        name="Accounts"
        list={list}
        columns={columnsOf({ onOpen: setOpen, reload: list.reload })}
        keyOf={({ id }) => id}
        empty={{ icon: 'accounts', title: 'No accounts' }}
      />
      {open?.kind === 'add' && <AccountForm plans={plans} onClose={() => setOpen(undefined)} onDone={done} />}
      {open?.kind === 'change' && (
        <AccountForm account={open.account} plans={plans} onClose={() => setOpen(undefined)} onDone={done} />
      )}
      {open?.kind === 'delete' && (
        <DeleteForm account={open.account} onClose={() => setOpen(undefined)} onDone={done} />
      )}
      {open?.kind === 'secret' && <Secret account={open.account} onClose={() => setOpen(undefined)} />}
    </>
  )
}

interface ActProps {
  onOpen: (open: Open) => void
  reload: () => void
}

function columnsOf(props: ActProps): Column<Account>[] {
  return [
    {
      head: 'Account',
      text: ({ name }) => name,
      second: ({ owner_email }) => owner_email ?? 'No owner',
    },
    { head: 'Plan', width: 104, isExtra: true, text: ({ plan }) => plan },
    { head: 'Status', kind: 'status', width: 104, cell: account => <StatusMark account={account} /> },
    timeColumn('Created', ({ created_at }) => created_at, '–', true),
    actions(account => <AccountActs account={account} {...props} />, 350),
  ]
}

function StatusMark({ account: { paused, suspended_at } }: { account: Account }) {
  if (suspended_at)
    return (
      <Mark tone="bad" title="New email is refused.">
        Suspended
      </Mark>
    )
  if (paused)
    return (
      <Mark tone="bad" title={paused.reason ?? ''}>
        Held
      </Mark>
    )
  return <Mark tone="good">Active</Mark>
}

/** The own account can be neither suspended nor deleted. */
function AccountActs({ account, onOpen, reload }: ActProps & { account: Account }) {
  const isOwn = account.id === signedIn().account.id
  const act = account.suspended_at
    ? { label: 'Resume', ask: resume }
    : account.paused
      ? { label: 'Release', ask: release }
      : { label: 'Suspend', ask: suspend }
  return (
    <>
      {!(isOwn && act.ask === suspend) && (
        <Button small onClick={() => act.ask(account, reload)}>
          {act.label}
        </Button>
      )}
      <Button small onClick={() => onOpen({ kind: 'change', account })}>
        Edit
      </Button>
      <Button small onClick={() => resetPassword(account, onOpen)}>
        Reset password
      </Button>
      {!isOwn && (
        <Button small kind="bad" onClick={() => onOpen({ kind: 'delete', account })}>
          Delete
        </Button>
      )}
    </>
  )
}

function resetPassword({ id, owner_email }: Account, onOpen: ActProps['onOpen']) {
  confirm({
    title: `Reset the password of ${owner_email}?`,
    text: 'The current password stops working and all sessions of the user end.',
    act: 'Reset password',
    async work() {
      onOpen({ kind: 'secret', account: await call('POST', `/accounts/${id}/reset-password`) })
    },
  })
}

function release({ id, name, paused }: Account, reload: () => void) {
  confirm({
    title: `Release ${name}?`,
    text: `The account is on hold. Reason: ${paused?.reason ?? 'none given'}. Its held mail will be sent.`,
    act: 'Release account',
    async work() {
      await call('POST', '/queue/release', { account_id: id })
      say('The account is released.')
      reload()
    },
  })
}

function suspend({ id, name }: Account, reload: () => void) {
  confirm({
    title: `Suspend ${name}?`,
    text: 'New email of the account is refused, and its queued email is put on hold. Its users can still sign in.',
    act: 'Suspend account',
    async work() {
      await call('PATCH', `/accounts/${id}`, { suspended: true })
      await call('POST', '/queue/hold', { account_id: id, reason: SUSPENDED })
      say(SUSPENDED)
      reload()
    },
  })
}

function resume({ id, name, paused }: Account, reload: () => void) {
  confirm({
    title: `Resume ${name}?`,
    text: `New email of the account is accepted again${paused ? ', and its held email will be sent' : ''}.`,
    act: 'Resume account',
    async work() {
      if (paused) await call('POST', '/queue/release', { account_id: id })
      await call('PATCH', `/accounts/${id}`, { suspended: false })
      say('The account is active again.')
      reload()
    },
  })
}

interface AccountFormProps {
  account?: Account
  plans: readonly string[]
  onClose: () => void
  onDone: (next?: Open) => void
}

function AccountForm({ account, plans, onClose, onDone }: AccountFormProps) {
  const draft = useDraft(`account.${account?.id ?? 'new'}`, {
    name: account?.name ?? '',
    owner: account?.owner_email ?? '',
    plan: account?.plan ?? plans.at(-1) ?? '',
  })
  const { name, owner, plan } = draft.value
  return (
    <FormDialog
      title={account ? `Edit ${account.name}` : 'Create account'}
      act={account ? 'Save changes' : 'Create account'}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const body = { name, owner_email: owner, plan: plan || null }
        if (account) {
          await call('PATCH', `/accounts/${account.id}`, body)
          say('Saved.')
          onDone()
        } else onDone({ kind: 'secret', account: await call('POST', '/accounts', body) })
      }}
    >
      {error => (
        <>
          <TextField label="Name" required {...draft.field('name')} fault={error?.of('name')} />
          <TextField
            label="Owner’s email address"
            type="email"
            required
            hint="The owner signs in with this address."
            {...draft.field('owner')}
            fault={error?.of('owner_email')}
          />
          <Choose
            label="Plan"
            {...draft.field('plan')}
            options={plans.map(one => [one, one] as const)}
            fault={error?.of('plan')}
          />
        </>
      )}
    </FormDialog>
  )
}

interface DeleteFormProps {
  account: Account
  onClose: () => void
  onDone: () => void
}

/** The name is typed to confirm the deletion. */
function DeleteForm({ account: { id, name }, onClose, onDone }: DeleteFormProps) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={`Delete ${name}?`}
      act="Delete account"
      bad
      disabled={typed.trim() !== name}
      onClose={onClose}
      onSubmit={async () => {
        await call('DELETE', `/accounts/${id}`)
        say('The account was deleted. Its data is removed in the background.')
        onDone()
      }}
    >
      {() => (
        <>
          <p>
            Its users and API keys stop working at once, and its queued email is canceled. Emails, contacts,
            domains and everything else of the account are removed. This cannot be undone.
          </p>
          <TextField label={`Type “${name}” to confirm`} value={typed} onValue={setTyped} autofocus />
        </>
      )}
    </FormDialog>
  )
}

function Secret({ account, onClose }: { account: AccountWithPassword; onClose: () => void }) {
  return (
    <ShownOnce
      title="Owner password"
      what="password"
      secret={account.password}
      advice={`${account.owner_email} should change it after signing in.`}
      act="Done"
      onClose={onClose}
    />
  )
}
