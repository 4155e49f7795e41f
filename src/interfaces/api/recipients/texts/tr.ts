/** Turkish texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const tr: PageTexts = {
  sender: name => name ?? 'bu gönderen',
  emailsFrom: sender => `${sender} tarafından gönderilen e-postalar`,
  emailsAbout: topic => `“${topic}” konulu e-postalar`,
  receives: (address, sender) =>
    `${address} adresinde ${sender} tarafından gönderilen e-postaları alıyorsunuz.`,
  receivesAbout: (address, sender, topic) =>
    `${address} adresinde ${sender} tarafından gönderilen “${topic}” konulu e-postaları alıyorsunuz.`,
  leftAll: (address, sender) =>
    `${address} adresinin ${sender} tarafından gönderilen tüm e-postalara aboneliği iptal edildi.`,
  leftTopic: (address, topic) => `${address} adresinin “${topic}” konulu e-postalara aboneliği iptal edildi.`,
  saved: 'Tercihleriniz kaydedildi.',
  subscribedAgain: 'Yeniden abone oldunuz.',
  leaveTopic: topic => `“${topic}” aboneliğini iptal et`,
  leaveAll: 'Tüm e-postaların aboneliğini iptal et',
  subscribeAgain: 'Yeniden abone ol',
  save: 'Kaydet',
  chooseTopics: 'Veya konularınızı seçin',
  selectToReturn:
    'Abone olmak istediğiniz konuları seçin. Seçim yapmazsanız aboneliğiniz iptal edilmiş kalır.',
  from: 'Gönderen',
  to: 'Alıcı',
  cc: 'Bilgi',
  date: 'Tarih',
  email: 'E-posta',
  brokenLink: 'Bu bağlantı çalışmıyor',
  brokenLinkHint: 'Kesilmiş veya değiştirilmiş olabilir. Bağlantıyı e-postadan yeniden açın.',
  emailGone: 'Bu e-posta artık mevcut değil',
  emailGoneHint: 'E-postalar tarayıcıda sınırlı bir süre okunabilir. E-posta hâlâ posta kutunuzda olabilir.',
}
