/** All accounts, for the operator. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Account, AccountWithPassword, Installation } from '../api/types.ts'
import { Button, Choose, Copy, TextField } from '../components/controls.tsx'
import { confirm, Dialog, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { Empty, Note, say } from '../components/feedback.tsx'
import { type Column, PagedTable } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'

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
      <Head title="Accounts" lead="Each has its own domains, keys, mail and people. Nobody sees another’s.">
        <Button kind="main" icon="plus" onClick={() => setOpen({ kind: 'add' })}>
          Make an account
        </Button>
      </Head>
      <Card flush>
        <PagedTable<Account>
          caption="Accounts"
          columns={columnsOf({ onOpen: setOpen, reload: list.reload })}
          keyOf={({ id }) => id}
          list={list}
          empty={<Empty icon="accounts" title="No accounts" />}
        />
      </Card>
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
      title: `A new password for ${account.owner_email}?`,
      text: 'The present one ends, and all sessions with it.',
      act: 'Make a new password',
      async work() {
        const changed = await call<AccountWithPassword>('POST', `/accounts/${account.id}/reset-password`)
        onOpen({ kind: 'secret', account: changed })
      },
    })
  const release = (account: Account) =>
    confirm({
      title: `Release the mail of ${account.name}?`,
      text: `It is held because of this: ${account.paused?.reason ?? 'no reason was given'}.`,
      act: 'Release',
      async work() {
        await call('POST', '/queue/release', { account_id: account.id })
        say('Its mail goes out again.')
        reload()
      },
    })
  return [
    {
      head: 'Account',
      cell: ({ name, owner_email }) => (
        <>
          <b>{name}</b>
          <div class="quiet small">{owner_email ?? 'nobody'}</div>
        </>
      ),
    },
    { head: 'Plan', cell: ({ plan }) => plan },
    {
      head: 'State',
      cell: ({ paused }) =>
        paused ? (
          <Mark tone="bad" title={paused.reason ?? ''}>
            Held
          </Mark>
        ) : (
          <Mark tone="good">Sends</Mark>
        ),
    },
    { head: 'Since', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      head: 'Acts',
      kind: 'acts',
      cell: account => (
        <span class="row">
          {account.paused && (
            <Button small onClick={() => release(account)}>
              Release
            </Button>
          )}
          <Button small onClick={() => onOpen({ kind: 'change', account })}>
            Change
          </Button>
          <Button small onClick={() => reset(account)}>
            New password
          </Button>
        </span>
      ),
    },
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
  const set = (changes: Partial<typeof draft.value>) => draft.set({ ...draft.value, ...changes })
  return (
    <FormDialog
      title={account ? `Change ${account.name}` : 'Make an account'}
      act={account ? 'Save' : 'Make it'}
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
          <TextField
            label="Name"
            required
            value={name}
            onValue={value => set({ name: value })}
            fault={error?.of('name')}
          />
          <TextField
            label="Owner’s email address"
            type="email"
            required
            hint="With this address they sign in."
            value={owner}
            onValue={value => set({ owner: value })}
            fault={error?.of('owner_email')}
          />
          <Choose
            label="Plan"
            value={plan}
            options={plans.map(one => [one, one] as const)}
            onValue={value => set({ plan: value })}
            fault={error?.of('plan')}
          />
        </>
      )}
    </FormDialog>
  )
}

function Secret({ account, onClose }: { account: AccountWithPassword; onClose: () => void }) {
  return (
    <Dialog title="Password of the owner" isOnce onClose={onClose}>
      <div class="dialog-body">
        <Note tone="warn">
          <p>
            <b>Hand it over now.</b> It is shown this once. {account.owner_email} should change it after
            signing in.
          </p>
        </Note>
        <div class="secret">
          <Copy text={account.password} label="Copy the password" />
        </div>
      </div>
      <div class="dialog-acts">
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
