/** Domains that the operator has banned, and the dialog to ban one. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { DomainBan } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { confirm, FormDialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'

interface BannedProps {
  bans: readonly DomainBan[] | undefined
  reload: () => void
}

export function BannedDomainsCard({ bans, reload }: BannedProps) {
  if (!bans || bans.length === 0) return null
  const lift = ({ domain }: DomainBan) =>
    confirm({
      title: `Lift the ban of ${domain}?`,
      text: 'Email from it is accepted again, and what was held is sent.',
      act: 'Lift ban',
      harmless: true,
      async work() {
        await call('POST', '/installation/unban-domain', { domain })
        say(`The ban of ${domain} was lifted.`)
        reload()
      },
    })
  const columns: Column<DomainBan>[] = [
    { head: 'Domain', text: ({ domain }) => domain },
    { head: 'Reason', text: ({ reason }) => reason },
    timeColumn('Since', ({ created_at }) => created_at),
    actions(
      ban => (
        <Button small onClick={() => lift(ban)}>
          Lift ban
        </Button>
      ),
      124,
    ),
  ]
  return (
    <ResourceList<DomainBan>
      title="Banned domains"
      name="Banned domains"
      list={{ data: { data: bans }, error: undefined, reload }}
      columns={columns}
      keyOf={({ domain }) => domain}
      empty={{ icon: 'clock', title: 'No banned domains' }}
    />
  )
}

export function BanDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [domain, setDomain] = useState('')
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title="Ban a domain"
      act="Ban domain"
      bad
      onClose={onClose}
      onSubmit={async () => {
        const ban = await call<DomainBan>('POST', '/installation/ban-domain', {
          domain,
          ...(reason && { reason }),
        })
        say(`${ban.domain} is banned.`)
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <p class="quiet">
            Nothing is sent from the domain and its subdomains: queued email is held, new email is refused,
            and no account can add the domain.
          </p>
          <TextField
            label="Domain"
            required
            autofocus
            value={domain}
            onValue={setDomain}
            fault={error?.of('domain')}
          />
          <TextField
            label="Reason (optional)"
            value={reason}
            onValue={setReason}
            hint="Accounts see it with email that is held."
            fault={error?.of('reason')}
          />
        </>
      )}
    </FormDialog>
  )
}
