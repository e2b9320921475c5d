package io.seriatim.graph.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.ProgramSummary;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.io.StringReader;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class PrintableTest {
    /**
     * ESC, ends of lines, NUL, DEL, C1, bidi controls, zero width, line separators, half of a pair, tags, BOM, XML's
     * and DOT's own.
     */
    private static final String HOSTILE =
            "a\u001b[31m\r\n\0\u007f\u009b\u202e\u2066\u200b\u2028\u0085\ud800\udb40\udc01\ufeff\uffff<&>\"'b";

    @Test
    void whatShowsAsItselfStays() {
        for (String text : new String[]{"", "linear_0.w_0", "größe λ 変数 \ud83d\ude00", "a\\b \"c\"", "100 %"}) {
            assertEquals(text, Printable.of(text));
        }
    }

    @Test
    void theRestBecomesNumbers() {
        assertEquals(
                "a\\u001b[31m\\u000d\\u000a\\u0000\\u007f\\u009b\\u202e\\u2066\\u200b\\u2028\\u0085\\ud800\\udb40\\udc01\\ufeff\\uffff<&>\"'b",
                Printable.of(HOSTILE));
        assertEquals("1\n2\t\\u001b\n3\\u000d4", Printable.lines("1\r\n2\t\u001b\n3\r4"));
        assertEquals("a\\u0020b\\u003d1", Printable.key("a b=1"));
    }

    @Test
    void programsPrintOnTheirOwnLinesOnly() throws Exception {
        Program program = new Program();
        program.global().put(VarDesc.of(HOSTILE, VarType.dense(DType.FLOAT32, 1)).persistent());
        program.global().add(OpDesc.of("type" + HOSTILE).in("X" + HOSTILE, HOSTILE).out("Out", HOSTILE + 2)
                .attr("name" + HOSTILE, "value" + HOSTILE).attr("list", new String[]{HOSTILE}).build());
        assertEquals(3, program.toString().lines().count(), program.toString());
        for (String text : new String[]{program.toString(), program.toDot(), program.toSvg()}) {
            assertEquals(Printable.lines(text), text.replace("\r\n", "\n"));
            assertTrue(text.contains("u001b[31m"), text);
        }
        assertEquals(0, quotes(program.toDot()) % 2);
        assertFalse(program.toSvg().contains("type" + "a\u001b"));
        DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(program.toSvg())));
    }

    /** Those that begin and end a text of DOT. */
    private static long quotes(String dot) {
        return dot.replace("\\\\", "").replace("\\\"", "").chars().filter(c -> c == '"').count();
    }

    @Test
    void countsBeyondWhatALongHoldsStayTheLargest() {
        Program program = new Program();
        program.global().put(VarDesc.of("a", VarType.dense(DType.FLOAT32, 1L << 62, 1L << 62)).persistent());
        program.global().put(VarDesc.of("b", VarType.dense(DType.FLOAT32, 1L << 62)).persistent());
        program.global().put(VarDesc.of("c", VarType.dense(DType.FLOAT32, 1L << 62, 4, 0)).persistent());
        program.global().put(VarDesc.of("d", VarType.dense(DType.FLOAT32, Long.MAX_VALUE, Long.MAX_VALUE)));
        ProgramSummary summary = ProgramSummary.of(program, 1);
        assertEquals(Long.MAX_VALUE, summary.parameterElements());
        assertEquals(Long.MAX_VALUE, summary.persistentBytes());
        assertEquals(Long.MAX_VALUE, summary.temporaryBytes());
        Program exact = new Program();
        exact.global().put(VarDesc.of("a", VarType.dense(DType.FLOAT32, (1L << 60) + 1)).persistent());
        exact.global().put(VarDesc.of("b", VarType.dense(DType.FLOAT32, 3, (1L << 53) + 1)).persistent());
        assertEquals((1L << 60) + 1 + 3 * ((1L << 53) + 1), ProgramSummary.of(exact, 1).parameterElements());
    }
}
