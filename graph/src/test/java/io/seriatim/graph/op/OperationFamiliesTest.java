package io.seriatim.graph.op;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Families are found by their classes; operations that they left out would be missing in docs/operations.md. */
class OperationFamiliesTest {
    @Test
    void eachOperationHasAFamily() {
        Set<String> found = new TreeSet<>();
        OperationFamilies.all().values().forEach(family -> family.stream().map(Operation::type).forEach(found::add));
        Set<String> missing = new TreeSet<>();
        for (Operation operation : Operations.system().all()) {
            // Others come from providers of tests.
            if (Operations.system().isBuiltIn(operation.type()) && !found.contains(operation.type())) {
                missing.add(operation.type());
            }
        }
        assertEquals(Set.of(), missing);
    }
}
