package io.seriatim.executor.trace;

import io.seriatim.tensor.AtomicFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * A page for a browser, which needs nothing else: no network, no other file. It is HTML and well-formed XML if all that
 * is added is. It brings the style of {@link ReportSections} and the script that zooms their timelines.
 */
public final class ReportPage {
    private final String title;
    private final StringBuilder styles = new StringBuilder(resource(ReportPage.class, "report.css"));
    private final StringBuilder scripts = new StringBuilder(resource(ReportPage.class, "report.js"));
    private final StringBuilder body = new StringBuilder();

    /**
     * A page with nothing but a title.
     *
     * @param title
     *            text
     */
    public ReportPage(String title) {
        this.title = Markup.text(title);
    }

    /**
     * Adds to the end of the page.
     *
     * @param markup
     *            elements that are well-formed; texts in them went through {@link Markup#text}
     * @return this
     */
    public ReportPage add(String markup) {
        body.append(markup);
        return this;
    }

    /**
     * Adds to the style sheet.
     *
     * @param css
     *            rules
     * @return this
     */
    public ReportPage style(String css) {
        styles.append(css);
        return this;
    }

    /**
     * Adds a script that runs once the page is there.
     *
     * @param javascript
     *            statements
     * @return this
     */
    public ReportPage script(String javascript) {
        scripts.append(javascript);
        return this;
    }

    /**
     * One of the numbers at the beginning of a page. Tiles stand beside one another in {@code <div class="tiles">}.
     *
     * @param what
     *            it is; markup
     * @param value
     *            the number; markup
     * @param more
     *            what makes it comparable; markup
     * @return markup
     */
    public static String tile(String what, String value, String more) {
        return "<div class=\"tile\"><span>" + what + "</span><b>" + value + "</b><span>" + more + "</span></div>\n";
    }

    /**
     * Adds a section with names and what they stand for.
     *
     * @param heading
     *            text
     * @param entries
     *            texts, in the order in which they are shown
     * @return this
     */
    public ReportPage list(String heading, Map<String, String> entries) {
        body.append("<section>\n<h2>").append(Markup.text(heading)).append("</h2>\n<dl>");
        entries.forEach((name, value) -> body.append("<dt>").append(Markup.text(name)).append("</dt><dd>")
                .append(Markup.text(value))
                .append("</dd>\n"));
        body.append("</dl>\n</section>\n");
        return this;
    }

    /**
     * A file beside a class, such as a style sheet.
     *
     * @param beside
     *            the class
     * @param name
     *            of the file
     * @return its text
     */
    static String resource(Class<?> beside, String name) {
        try (InputStream in = Objects.requireNonNull(beside.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Writes the page. The file is there whole or not at all.
     *
     * @param file
     *            replaced if it is there
     * @throws IOException
     *             if it cannot be written
     */
    public void write(Path file) throws IOException {
        AtomicFile.writeText(file, this::write);
    }

    private void write(Writer out) throws IOException {
        out.append("""
                <!DOCTYPE html>
                <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
                <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <title>""").append(title).append("</title>\n<style>\n/*<![CDATA[*/\n").append(styles)
                .append("/*]]>*/\n</style>\n</head>\n<body>\n<main>\n<h1>").append(title)
                .append("</h1>\n").append(body).append("</main>\n<script>\n//<![CDATA[\n").append(scripts)
                // For whoever looks at the page with a program.
                .append("document.documentElement.dataset.ready = \"yes\";\n//]]>\n</script>\n</body>\n</html>\n");
    }
}
