/** Czech texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const cs: PageTexts = {
  sender: name => (name === undefined ? 'tohoto odesílatele' : `odesílatele ${name}`),
  emailsFrom: sender => `E-maily od ${sender}`,
  emailsAbout: topic => `E-maily na téma ${topic}`,
  receives: (address, sender) => `Na adresu ${address} dostáváte e-maily od ${sender}.`,
  receivesAbout: (address, sender, topic) =>
    `Na adresu ${address} dostáváte e-maily od ${sender} na téma ${topic}.`,
  leftAll: (address, sender) => `Adresa ${address} je odhlášena ze všech e-mailů od ${sender}.`,
  leftTopic: (address, topic) => `Adresa ${address} je odhlášena z e-mailů na téma ${topic}.`,
  saved: 'Vaše nastavení bylo uloženo.',
  subscribedAgain: 'Odběr je opět aktivní.',
  leaveTopic: topic => `Odhlásit odběr: ${topic}`,
  leaveAll: 'Odhlásit všechny e-maily',
  subscribeAgain: 'Znovu přihlásit',
  save: 'Uložit',
  chooseTopics: 'Nebo si vyberte témata',
  selectToReturn: 'Vyberte témata, která chcete odebírat. Bez výběru zůstanete odhlášeni.',
  from: 'Od',
  to: 'Komu',
  cc: 'Kopie',
  date: 'Datum',
  email: 'Text e-mailu',
  brokenLink: 'Tento odkaz nefunguje',
  brokenLinkHint: 'Možná byl zkrácen nebo změněn. Otevřete jej znovu z e-mailu.',
  emailGone: 'Tento e-mail již není k dispozici',
  emailGoneHint: 'E-maily lze v prohlížeči číst jen po omezenou dobu. Možná je ještě ve vaší schránce.',
}
