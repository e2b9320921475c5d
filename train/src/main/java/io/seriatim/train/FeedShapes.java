package io.seriatim.train;

import io.seriatim.graph.program.FeedCheck;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks data against the declared shapes and types of a model's feeds. */
final class FeedShapes {
    private final Model model;

    FeedShapes(Model model) {
        this.model = model;
    }

    /** Returns whether the program fixes the batch size, so that a shorter batch cannot be fed. */
    boolean isFixed() {
        return model.feeds().stream().anyMatch(feed -> {
            VarType.TensorType type = type(feed);
            return type != null && !type.dims().isEmpty() && type.dims().getFirst() >= 0;
        });
    }

    void require(Dataset data, int batch) {
        List<Field> fields = data.fields();
        if (fields.size() != model.feeds().size()) {
            throw new IllegalArgumentException(
                    "Model '" + model.name() + "' is fed " + model.feeds() + ", but the data have the fields "
                            + fields);
        }
        Map<String, Shape> shapes = new HashMap<>();
        for (int i = 0; i < fields.size(); i++) {
            String feed = model.feeds().get(i);
            Shape shape = batch(fields.get(i), batch);
            VarDesc desc = model.main().global().find(feed);
            String problem = desc == null
                    ? null
                    : FeedCheck.problem(desc, TensorSpec.of(fields.get(i).dtype(), shape),
                            "'" + fields.get(i).name() + "' of the data has batches of");
            if (problem != null) {
                throw new IllegalArgumentException(problem);
            }
            shapes.put(feed, shape);
        }
        String problem = model.main().symbolicDims().problem(model.feeds(), shapes::get);
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
    }

    private static Shape batch(Field field, int batch) {
        long[] dims = new long[field.shape().rank() + 1];
        dims[0] = batch;
        for (int i = 1; i < dims.length; i++) {
            dims[i] = field.shape().dim(i - 1);
        }
        return Shape.of(dims);
    }

    /** Returns the declared type of a feed, or null if the program does not request a check. */
    private VarType.@Nullable TensorType type(String feed) {
        VarDesc desc = model.main().global().find(feed);
        return desc != null && Boolean.TRUE.equals(desc.needCheckFeed()) ? desc.type().tensorType() : null;
    }
}
