/** Setup guide for the public host name: DNS records, settings and start command. */
import { useState } from 'preact/hooks'
import {
  COMMAND,
  delegationLines,
  type OwnName,
  openPorts,
  SETTINGS_FILE,
  settingLines,
  UNIT,
} from '../../../setup/own-name.ts'
import { Choices, Copy, TextField } from '../components/controls.tsx'
import { useDraft } from '../components/draft.tsx'
import { pastedDomain } from '../labels/pasted-domain.ts'

const EXAMPLE = { host: 'mail.example.com', address: '203.0.113.7', email: 'you@example.com' }
const STARTS = [
  ['systemd', 'systemd'],
  ['command', 'Command line'],
] as const

export function OwnNameGuide() {
  const draft = useDraft('own-name', {
    host: '',
    address: '',
    local: '',
    email: '',
    https: 'own' as OwnName['https'],
  })
  const { host, address, local, email, https } = draft.value
  const own: OwnName = {
    host: pastedDomain(host) || EXAMPLE.host,
    addresses: listOf(address || EXAMPLE.address),
    localAddresses: listOf(local),
    email: email.trim() || EXAMPLE.email,
    https,
  }
  return (
    <div class="stack">
      <div class="halves">
        <TextField
          label="Host name of this server"
          {...draft.field('host')}
          placeholder={EXAMPLE.host}
          hint="A subdomain of a domain you own, used only for Mailhorn."
        />
        <TextField
          label="Public IP address"
          {...draft.field('address')}
          placeholder={EXAMPLE.address}
          hint="IPv4 and IPv6. Separate several addresses with commas."
        />
        <TextField
          label="Email address for the certificate authority"
          type="email"
          {...draft.field('email')}
          placeholder={EXAMPLE.email}
          hint="Contact address of the Let’s Encrypt account."
        />
        <TextField
          label="Private IP address"
          {...draft.field('local')}
          placeholder="same as the public address"
          hint="Only behind NAT, if the public address is not assigned to a network interface (AWS, Google Cloud, Azure)."
        />
      </div>
      <Choices<OwnName['https']>
        label="HTTPS"
        {...draft.field('https')}
        options={[
          ['own', 'Served by Mailhorn'],
          ['proxy', 'Reverse proxy on this server'],
        ]}
      />
      <div class="stack stack-tight">
        <h3>1. Add these records to the DNS of the parent domain</h3>
        <Copy block text={delegationLines(own)} label="Copy DNS records" />
        <p class="small quiet">
          Ask your hosting provider to set the PTR (reverse DNS) record of {own.addresses[0]} to {own.host},
          and to open outbound port 25.
        </p>
      </div>
      <SettingsStep own={own} />
      <StartStep />
      <p class="small quiet">Then return to this page: remaining issues are listed below with their fixes.</p>
    </div>
  )
}

function SettingsStep({ own }: { own: OwnName }) {
  return (
    <div class="stack stack-tight">
      <h3>
        2. Save these settings as <code>{SETTINGS_FILE}</code>
      </h3>
      <Copy block text={settingLines(own)} label="Copy settings" />
      <p class="small quiet">
        Links in emails use <code>https://{own.host}</code>, bounces and replies are received on port 25, and
        Let’s Encrypt issues the certificate. With <code>ACME_ENABLED</code> you agree to its terms of
        service. Open ports {openPorts(own)} in the firewall.
      </p>
    </div>
  )
}

function StartStep() {
  const [start, setStart] = useState<(typeof STARTS)[number][0]>('systemd')
  return (
    <div class="stack stack-tight">
      <h3>3. Start the service with these settings</h3>
      <Choices label="Start method" value={start} options={STARTS} onValue={setStart} />
      {start === 'systemd' ? (
        <>
          <Copy block text={UNIT} label="Copy systemd unit" />
          <p class="small quiet">
            Save it as <code>/etc/systemd/system/mailhorn.service</code>, adjust the directory and the user,
            then run <code>systemctl enable --now mailhorn</code>.
          </p>
        </>
      ) : (
        <Copy block text={COMMAND} label="Copy command" />
      )}
    </div>
  )
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
