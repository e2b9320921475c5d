package io.seriatim.train.data;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The records of a CSV file (RFC 4180) with a header, one after the other. */
final class TableFile implements AutoCloseable {
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final Path file;
    private final CsvReader<CsvRecord> reader;
    private final Iterator<CsvRecord> records;
    private final List<String> header;
    private long line = 1;

    TableFile(Path file, char separator) throws IOException {
        this.file = file;
        BufferedReader text = Files.newBufferedReader(InputFiles.regular(file));
        try {
            text.mark(1);
            if (text.read() != BYTE_ORDER_MARK) {
                text.reset();
            }
            // Records are compared with the header here, where the names of the columns are known.
            this.reader = CsvReader.builder().fieldSeparator(separator).trimWhitespacesAroundQuotes(true)
                    .allowUnclosedQuote(false).extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                    .missingFieldStrategy(FieldMismatchStrategy.IGNORE).ofCsvRecord(text);
        } catch (CharacterCodingException e) {
            text.close();
            throw notText(e);
        } catch (IOException | RuntimeException | Error e) {
            text.close();
            throw e;
        }
        try {
            this.records = reader.iterator();
            CsvRecord first = record();
            if (first == null) {
                throw new FileFormatException(file.toString(), "the file is empty, but a table has a header");
            }
            this.header = first.getFields().stream().map(String::strip).toList();
            requireDifferent();
        } catch (IOException | RuntimeException | Error e) {
            reader.close();
            throw e;
        }
    }

    private void requireDifferent() throws FileFormatException {
        for (int i = 0; i < header.size(); i++) {
            int first = header.indexOf(header.get(i));
            if (first < i && !header.get(i).isEmpty()) {
                throw wrong("the columns must have different names, but columns " + (first + 1) + " and " + (i + 1)
                        + " are both '" + header.get(i) + "'");
            }
        }
    }

    /** The names of the columns. */
    List<String> header() {
        return header;
    }

    /** The position of a column. */
    int column(String name) throws FileFormatException {
        int at = header.indexOf(name);
        if (at < 0) {
            throw wrong("the header must have a column '" + name + "', but its columns are " + header
                    + (header.size() == 1 ? ": is the separator another one?" : ""));
        }
        return at;
    }

    /** The cells of the next row, without white space around them; null at the end. */
    @Nullable
    List<String> next() throws IOException {
        CsvRecord next = record();
        if (next == null) {
            return null;
        }
        if (next.getFieldCount() != header.size()) {
            throw wrong("a row must have " + header.size() + " cells, as the header, but has " + next.getFieldCount()
                    + (next.getFieldCount() > header.size()
                            ? ": put a cell that contains the separator in double quotes"
                            : ""));
        }
        List<String> cells = new ArrayList<>(header.size());
        for (int i = 0; i < header.size(); i++) {
            cells.add(next.getField(i).strip());
        }
        return cells;
    }

    private @Nullable CsvRecord record() throws IOException {
        try {
            if (!records.hasNext()) {
                return null;
            }
            CsvRecord next = records.next();
            line = next.getStartingLineNumber();
            return next;
        } catch (CsvParseException e) {
            // Its message says the line.
            throw new FileFormatException(file.toString(), String.valueOf(e.getMessage()), e);
        } catch (UncheckedIOException e) {
            throw e.getCause() instanceof CharacterCodingException encoding ? notText(encoding) : e.getCause();
        }
    }

    private FileFormatException notText(CharacterCodingException e) {
        return new FileFormatException(file + ":" + line,
                "a table must be in UTF-8, but this line, or one that follows soon, is not", e);
    }

    /** An error in the row that was read last. */
    FileFormatException wrong(String rule) {
        return new FileFormatException(file + ":" + line, rule);
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
