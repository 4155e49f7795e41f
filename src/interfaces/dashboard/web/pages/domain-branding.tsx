/** Name, colour and logo of a domain's sender, as recipients see them on unsubscribe pages. */
import { call } from '../api/client.ts'
import type { Domain } from '../api/types.ts'
import { Button, Field, TextField } from '../components/controls.tsx'
import { useChange } from '../components/dialog.tsx'
import { DraftNotice, useDraft } from '../components/draft.tsx'
import { Failure, say } from '../components/feedback.tsx'
import { Card } from '../components/show.tsx'

export function DomainBrandingCard({
  domain: { id, name: domainName, branding },
  put,
}: {
  domain: Domain
  put: (domain: Domain) => void
}) {
  const form = useDraft(`branding.${id}`, textsOf(branding))
  const { error, act } = useChange(async (changes: { name?: string; color?: string; logo?: string }) => {
    const saved = await call<Domain>('PATCH', `/domains/${id}`, { branding: changes })
    if (changes.logo === undefined) form.settle(form.value, textsOf(saved.branding))
    put(saved)
    say('Recipients’ pages saved.')
  })
  const save = (event: Event) => {
    event.preventDefault()
    act(form.value)
  }
  return (
    <Card title="Recipients’ pages">
      <form class="stack" onSubmit={save}>
        <p class="quiet">
          Shown on the unsubscribe page of email from {domainName}, which is in the language of the recipient.
        </p>
        <DraftNotice draft={form} />
        {error && <Failure error={error} act="The change was not saved" />}
        <TextField
          label="Sender name"
          {...form.field('name')}
          fault={error?.of('branding.name')}
          maxLength={100}
          hint={`Leave empty to use the name in From, or ${domainName}.`}
        />
        <TextField
          label="Colour"
          {...form.field('color')}
          fault={error?.of('branding.color')}
          placeholder="#1c7047"
          hint="Colour of the main button. The colour of its text follows."
        />
        <Logo url={branding.logo_url} fault={error?.of('branding.logo')} onChange={logo => act({ logo })} />
        {form.isChanged && (
          <div class="row">
            <Button type="submit" saves>
              Save name and colour
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}

function textsOf({ name, color }: Domain['branding']) {
  return { name: name ?? '', color: color ?? '' }
}

interface LogoProps {
  url: string | null
  fault: string | undefined
  /** @param logo data URL; empty to remove the logo */
  onChange: (logo: string) => void
}

function Logo({ url, fault, onChange }: LogoProps) {
  const choose = ({ currentTarget: { files } }: { currentTarget: HTMLInputElement }) => {
    const [file] = files ?? []
    if (!file) return
    const reader = new FileReader()
    reader.onload = () => onChange(String(reader.result))
    reader.onerror = () => say('The file could not be read.', 'warn')
    reader.readAsDataURL(file)
  }
  return (
    <>
      <Field label="Logo" hint="PNG, JPEG or WebP of at most 100 KB. It is saved at once." fault={fault}>
        {ids => (
          <input
            class="input"
            type="file"
            accept="image/png,image/jpeg,image/webp"
            onChange={choose}
            {...ids}
          />
        )}
      </Field>
      {url && (
        <div class="row row-apart">
          <img class="brand-logo" src={new URL(url).pathname} alt="Logo of the sender" />
          <Button icon="trash" onClick={() => onChange('')}>
            Remove logo
          </Button>
        </div>
      )}
    </>
  )
}
