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
      {open?.kind === 'secret' && <Secret account={open.account} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function columnsOf({
  onOpen,
  reload,
}: {
  onOpen: (open: Open) => void
  reload: () => void
}): Column<Account>[] {
  const reset = (account: Account) =>
    confirm({
      title: `Reset the password of ${account.owner_email}?`,
      text: 'The current password stops working and all sessions of the user end.',
      act: 'Reset password',
      async work() {
        const changed = await call<AccountWithPassword>('POST', `/accounts/${account.id}/reset-password`)
        onOpen({ kind: 'secret', account: changed })
      },
    })
  const release = (account: Account) =>
    confirm({
      title: `Release ${account.name}?`,
      text: `The account is on hold. Reason: ${account.paused?.reason ?? 'none given'}. Its held mail will be sent.`,
      act: 'Release account',
      async work() {
        await call('POST', '/queue/release', { account_id: account.id })
        say('The account is released.')
        reload()
      },
    })
  const suspend = (account: Account) =>
    confirm({
      title: `Suspend ${account.name}?`,
      text: 'New email of the account is refused, and its queued email is put on hold. Its users can still sign in.',
      act: 'Suspend account',
      async work() {
        await call('PATCH', `/accounts/${account.id}`, { suspended: true })
        await call('POST', '/queue/hold', { account_id: account.id, reason: SUSPENDED })
        say('The account is suspended.')
        reload()
      },
    })
  const resume = (account: Account) =>
    confirm({
      title: `Resume ${account.name}?`,
      text: account.paused
        ? 'New email of the account is accepted again, and its held email will be sent.'
        : 'New email of the account is accepted again.',
      act: 'Resume account',
      async work() {
        if (account.paused) await call('POST', '/queue/release', { account_id: account.id })
        await call('PATCH', `/accounts/${account.id}`, { suspended: false })
        say('The account is active again.')
        reload()
      },
    })
  return [
    {
      head: 'Account',
      text: ({ name }) => name,
      second: ({ owner_email }) => owner_email ?? 'No owner',
    },
    { head: 'Plan', width: 104, isExtra: true, text: ({ plan }) => plan },
    {
      head: 'Status',
      kind: 'status',
      width: 104,
      cell: ({ paused, suspended_at }) =>
        suspended_at ? (
          <Mark tone="bad" title="New email is refused.">
            Suspended
          </Mark>
        ) : paused ? (
          <Mark tone="bad" title={paused.reason ?? ''}>
            Held
          </Mark>
        ) : (
          <Mark tone="good">Active</Mark>
        ),
    },
    timeColumn('Created', ({ created_at }) => created_at, '–', true),
    actions(
      account => (
        <>
          {account.suspended_at ? (
            <Button small onClick={() => resume(account)}>
              Resume
            </Button>
          ) : account.paused ? (
            <Button small onClick={() => release(account)}>
              Release
            </Button>
          ) : (
            account.id !== signedIn().account.id && (
              <Button small onClick={() => suspend(account)}>
                Suspend
              </Button>
            )
          )}
          <Button small onClick={() => onOpen({ kind: 'change', account })}>
            Edit
          </Button>
          <Button small onClick={() => reset(account)}>
            Reset password
          </Button>
        </>
      ),
      284,
    ),
  ]
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
