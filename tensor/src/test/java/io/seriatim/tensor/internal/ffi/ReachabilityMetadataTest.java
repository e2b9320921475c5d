package io.seriatim.tensor.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The file for GraalVM's native-image lists the C signatures that are linked on Linux, and the natives' jar. */
class ReachabilityMetadataTest {
    private static final Path FILE = Path.of(
            "src/main/resources/META-INF/native-image/io.seriatim/seriatim-tensor/reachability-metadata.json");

    private static String json(FunctionDescriptor signature, String options) {
        return signature.argumentLayouts().stream()
                .map(layout -> layout instanceof AddressLayout
                        ? "\"void*\""
                        : "\"j" + ((ValueLayout) layout).carrier() + "\"")
                .collect(Collectors.joining(", ", "{\"returnType\": \"j"
                        + ((ValueLayout) signature.returnLayout().orElseThrow()).carrier()
                        + "\", \"parameterTypes\": [", "]" + options + "}"));
    }

    @Test
    void itHasTheSignaturesThatAreLinked() throws IOException {
        String text = Files.readString(FILE);
        List<String> listed = Pattern.compile("\\{\"returnType.*\\}(?=,?\n)").matcher(text).results()
                .map(match -> match.group()).toList();
        assertEquals(List.of(json(Calls.EXECUTE_SIGNATURE, ""),
                json(Calls.INSTANT_SIGNATURE, ", \"options\": {\"critical\": {\"allowHeapAccess\": false}}"),
                json(Calls.MASK_SIGNATURE, ", \"options\": {\"critical\": {\"allowHeapAccess\": false}}"),
                json(Calls.PRODUCT_SIGNATURE, ", \"options\": {\"critical\": {\"allowHeapAccess\": true}}"),
                json(Calls.sharedSignature(), "")), listed);
        assertTrue(text.contains("{\"glob\": \"org/bytedeco/dnnl/**\"}"), text);
    }
}
