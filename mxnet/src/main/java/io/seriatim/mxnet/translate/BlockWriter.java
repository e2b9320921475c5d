package io.seriatim.mxnet.translate;

import io.seriatim.graph.program.VarType;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Appends operations to a model's block. Translators name variables; their types are looked up here. */
final class BlockWriter {
    private final ModelBuilder model;
    private final Map<String, Ref> refs = new HashMap<>();
    private boolean asked;

    BlockWriter(ModelBuilder model) {
        this.model = model;
    }

    OpWriter op(String type) {
        return new OpWriter(this, model.main().op(type));
    }

    ModelBuilder model() {
        return model;
    }

    /** Makes a variable known to translators. */
    String known(Ref ref) {
        refs.put(ref.name(), ref);
        return ref.name();
    }

    Ref ref(String name) {
        return Objects.requireNonNull(refs.get(name), name);
    }

    List<Ref> refs(List<String> names) {
        return names.stream().map(this::ref).toList();
    }

    /** The dimensions of a variable, −1 where unknown. */
    long[] dims(String name) {
        asked = true;
        Tensor value = model.value(ref(name));
        return value == null ? type(name).shape() : value.shape().dims();
    }

    private VarType.TensorType type(String name) {
        return model.program().global().get(name).tensor();
    }

    /** Whether a result depended on dimensions. */
    boolean hasAskedForDims() {
        return asked;
    }

    DType dtype(String name) {
        Tensor value = model.value(ref(name));
        return value == null ? type(name).dtype() : value.dtype();
    }
}
