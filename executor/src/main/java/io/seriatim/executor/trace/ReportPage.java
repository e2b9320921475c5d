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
 * A self-contained page for a browser, which loads no other file. It is HTML, and well-formed XML if all markup added
 * to it is well-formed. It contains the style sheet of {@link ReportSections} and the script that zooms their
 * timelines.
 */
public final class ReportPage {
    private final String title;
    private final StringBuilder styles = new StringBuilder(resource(ReportPage.class, "report.css"));
    private final StringBuilder scripts = new StringBuilder(resource(ReportPage.class, "report.js"));
    private final StringBuilder body = new StringBuilder();

    /**
     * Creates a page without content.
     *
     * @param title
     *            the title, as text
     */
    public ReportPage(String title) {
        this.title = Markup.text(title);
    }

    /**
     * Appends markup to the page.
     *
     * @param markup
     *            well-formed elements; text in them must be escaped with {@link Markup#text}
     * @return this
     */
    public ReportPage add(String markup) {
        body.append(markup);
        return this;
    }

    /**
     * Appends rules to the style sheet.
     *
     * @param css
     *            the rules
     * @return this
     */
    public ReportPage style(String css) {
        styles.append(css);
        return this;
    }

    /**
     * Appends a script that runs when the page has been loaded.
     *
     * @param javascript
     *            the statements
     * @return this
     */
    public ReportPage script(String javascript) {
        scripts.append(javascript);
        return this;
    }

    /**
     * Returns a tile, which shows one of the key figures at the beginning of a page. Tiles are arranged in a row in
     * {@code <div class="tiles">}.
     *
     * @param what
     *            the name of the figure, as markup
     * @param value
     *            the figure, as markup
     * @param more
     *            an additional figure for comparison, as markup
     * @return the tile, as markup
     */
    public static String tile(String what, String value, String more) {
        return "<div class=\"tile\"><span>" + what + "</span><b>" + value + "</b><span>" + more + "</span></div>\n";
    }

    /**
     * Appends a section that lists names and values.
     *
     * @param heading
     *            the heading, as text
     * @param entries
     *            names and values, as text, in the order in which they are shown
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
     * Reads a resource from the package of a class, such as a style sheet.
     *
     * @param beside
     *            the class
     * @param name
     *            the name of the resource
     * @return the text of the resource
     */
    static String resource(Class<?> beside, String name) {
        try (InputStream in = Objects.requireNonNull(beside.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Writes the page atomically: if writing fails, the file is unchanged.
     *
     * @param file
     *            the file, which is replaced if it exists
     * @throws IOException
     *             if the file cannot be written
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
                // Lets programs that drive a browser wait until the scripts have run.
                .append("document.documentElement.dataset.ready = \"yes\";\n//]]>\n</script>\n</body>\n</html>\n");
    }
}
