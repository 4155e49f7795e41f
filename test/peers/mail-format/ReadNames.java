import java.io.File;
import java.io.FileInputStream;
import java.util.StringJoiner;
import javax.mail.Session;
import javax.mail.internet.MimeMessage;
import javax.mail.internet.MimeMultipart;

/** Prints the name of the last part of every message of a folder, as JavaMail reads it, as JSON. */
class ReadNames {
    public static void main(String[] args) throws Exception {
        Session session = Session.getInstance(System.getProperties());
        StringJoiner names = new StringJoiner(",", "{", "}");
        for (File file : new File(args[0]).listFiles()) {
            try (FileInputStream stream = new FileInputStream(file)) {
                MimeMultipart parts = (MimeMultipart) new MimeMessage(session, stream).getContent();
                String name = parts.getBodyPart(parts.getCount() - 1).getFileName();
                names.add(quoted(file.getName()) + ":" + quoted(name));
            }
        }
        System.out.println(names);
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char unit : text.toCharArray()) json.append(String.format("\\u%04x", (int) unit));
        return json.append('"').toString();
    }
}
