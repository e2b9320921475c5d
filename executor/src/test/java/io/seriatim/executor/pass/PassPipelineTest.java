package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PassPipelineTest {
    @Test
    void architectureListsThePassesInTheirOrder() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "architecture.md"));
        String steps = page.substring(page.indexOf("| simplify and fuse |"));
        int last = -1;
        String list = Files.readString(Path.of("src", "main", "java", "io", "seriatim", "executor", "pass",
                "PassPipeline.java"));
        List<String> passes = Pattern.compile("(?m)^ +(\\w+)\\.[A-Z_]+[,)]")
                .matcher(list.substring(0, list.indexOf("PASSES_OF_ONE_RUN"))).results().map(found -> found.group(1))
                .toList();
        assertEquals(PassPipeline.PASSES.size(), passes.size());
        for (String pass : passes) {
            int at = steps.indexOf("`" + pass + "`", last + 1);
            assertTrue(at >= 0, () -> pass + " is missing, or stands elsewhere than in PassPipeline");
            last = at;
        }
    }
}
