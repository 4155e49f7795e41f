/** The operator gives the installation a name that the world can look up: what to set, and what to put into DNS. */
import { useState } from 'preact/hooks'
import { Choices, Copy, TextField } from '../components/controls.tsx'
import { useDraft } from '../components/draft.tsx'
import {
  COMMAND,
  delegationLines,
  type OwnName,
  openPorts,
  SETTINGS_FILE,
  settingsOf,
  UNIT,
} from '../labels/own-name.ts'

const EXAMPLE = { host: 'mail.example.com', address: '203.0.113.7', email: 'you@example.com' }
const STARTS = [
  ['systemd', 'systemd'],
  ['command', 'By hand'],
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
  const set = (changes: Partial<typeof draft.value>) => draft.set({ ...draft.value, ...changes })
  const own: OwnName = {
    host: host.trim().toLowerCase().replace(/\.$/, '') || EXAMPLE.host,
    addresses: listOf(address || EXAMPLE.address),
    localAddresses: listOf(local),
    email: email.trim() || EXAMPLE.email,
    https,
  }
  return (
    <div class="stack">
      <div class="halves">
        <TextField
          label="A name for this machine"
          value={host}
          placeholder={EXAMPLE.host}
          hint="Below a domain of yours, and used for nothing else."
          onValue={value => set({ host: value })}
        />
        <TextField
          label="Its public address"
          value={address}
          placeholder={EXAMPLE.address}
          hint="Several with commas between them, IPv6 too."
          onValue={value => set({ address: value })}
        />
        <TextField
          label="Email address for the certificate authority"
          type="email"
          value={email}
          placeholder={EXAMPLE.email}
          hint="Let’s Encrypt writes to it when a certificate cannot be renewed."
          onValue={value => set({ email: value })}
        />
        <TextField
          label="Address of its network interface"
          value={local}
          placeholder="the public address"
          hint="Only behind NAT, where the public address is not on an interface (AWS, Google Cloud, Azure)."
          onValue={value => set({ local: value })}
        />
      </div>
      <Choices<OwnName['https']>
        label="Who serves HTTPS"
        value={https}
        options={[
          ['own', 'Mailhorn serves HTTPS'],
          ['proxy', 'A proxy on this machine does'],
        ]}
        onValue={value => set({ https: value })}
      />
      <div class="stack stack-tight">
        <h3>1. Put this into the DNS of the domain above it</h3>
        <Copy block text={delegationLines(own)} label="Copy the records" />
        <p class="small quiet">
          Ask your hosting provider to set the PTR (reverse DNS) record of {own.addresses[0]} to {own.host},
          and to open outbound port 25.
        </p>
      </div>
      <SettingsStep own={own} />
      <StartStep />
      <p class="small quiet">Then come back here: what is still missing is listed below, with what to do.</p>
    </div>
  )
}

function SettingsStep({ own }: { own: OwnName }) {
  return (
    <div class="stack stack-tight">
      <h3>
        2. Put these settings into <code>{SETTINGS_FILE}</code>
      </h3>
      <Copy block text={settingsOf(own)} label="Copy the settings" />
      <p class="small quiet">
        With them, links in mail lead to <code>https://{own.host}</code>, bounces and replies come in at port
        25, and the certificate comes from Let’s Encrypt, whose terms you agree to by{' '}
        <code>ACME_ENABLED</code>. Let ports {openPorts(own)} through the firewall.
      </p>
    </div>
  )
}

function StartStep() {
  const [start, setStart] = useState<(typeof STARTS)[number][0]>('systemd')
  return (
    <div class="stack stack-tight">
      <h3>3. Start the service with them</h3>
      <Choices label="How it is started" value={start} options={STARTS} onValue={setStart} />
      {start === 'systemd' ? (
        <>
          <Copy block text={UNIT} label="Copy the unit" />
          <p class="small quiet">
            As <code>/etc/systemd/system/mailhorn.service</code>, with the folder and the user of your
            installation; then <code>systemctl enable --now mailhorn</code>.
          </p>
        </>
      ) : (
        <Copy block text={COMMAND} label="Copy the command" />
      )}
    </div>
  )
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
