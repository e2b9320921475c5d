package io.seriatim.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.onednn.OneDnn;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class DoctorCommandTest {
    private final StringWriter out = new StringWriter();

    private String doctor(String... args) {
        assertEquals(0, new CommandLine(DoctorCommand.class).setOut(new PrintWriter(out)).execute(args));
        return out.toString();
    }

    @Test
    void tellsWhatIsThereAndWhatIsNot() {
        String text = doctor();
        assertTrue(text.contains("Java") && text.contains("processor"), text);
        assertTrue(text.contains(OneDnn.status().loaded() ? "uses " : "not used: "), text);
        assertTrue(text.contains("sim:0") && text.contains("simulated accelerator"), text);
        assertTrue(text.lines().anyMatch(line -> line.startsWith("cuda:0") && line.contains("not found: ")), text);
        assertTrue(text.contains("portable for"), text);
    }

    @Test
    void listsTheKernels() {
        String text = doctor("--kernels");
        assertTrue(
                text.lines().anyMatch(
                        line -> line.startsWith("matmul") && line.contains("portable") && line.contains("float64")),
                text);
    }

    @Test
    void readsWhatLinuxTellsOfProcessors() {
        Processor intel = Processor.of(List.of("model name\t: Some Xeon", "flags\t\t: fpu avx2 avx512f amx_tile"));
        assertEquals("Some Xeon", intel.model());
        assertTrue(intel.present().containsAll(List.of("AVX2", "AVX512F", "AMX_TILE")), intel.toString());
        assertTrue(intel.missing().contains("AMX_BF16"), intel.toString());
        Processor arm = Processor.of(List.of("processor\t: 0", "Features\t: fp asimd bf16"));
        assertEquals(List.of("NEON", "BF16"), arm.present());
    }

    @Test
    void instructionsAreListedAsFarAsThereAreAny() {
        assertEquals("has A, B; lacks C", DoctorCommand.instructions(List.of("A", "B"), List.of("C")));
        assertEquals("has A", DoctorCommand.instructions(List.of("A"), List.of()));
        assertEquals("has none of A, B", DoctorCommand.instructions(List.of(), List.of("A", "B")));
    }
}
