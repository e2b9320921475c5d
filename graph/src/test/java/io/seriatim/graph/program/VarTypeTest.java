package io.seriatim.graph.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VarTypeTest {
    @ParameterizedTest
    @CsvSource({"FLOAT32,4,3,true", "FLOAT32,0,3,true", "FLOAT32,4,2,false", "FLOAT64,4,3,false"})
    void matchesWhatHasItsTypeAndKnownDimensions(DType dtype, long rows, long columns, boolean expected) {
        VarType.TensorType type = VarType.TensorType.of(DType.FLOAT32, -1, 3);
        assertEquals(expected, type.matches(TensorSpec.of(dtype, rows, columns)));
        assertFalse(type.matches(TensorSpec.of(dtype, rows, columns, 1)), "of another rank");
    }
}
