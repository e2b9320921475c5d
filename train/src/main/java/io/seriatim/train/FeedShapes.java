package io.seriatim.train;

import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import java.util.List;
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
        for (int i = 0; i < fields.size(); i++) {
            VarType.TensorType type = type(model.feeds().get(i));
            if (type != null && !fits(type, fields.get(i), batch)) {
                throw new IllegalArgumentException("Variable '" + model.feeds().get(i) + "' must be fed " + type
                        + " (-1 matches any), but is given " + fields.get(i).dtype() + " of the shape "
                        + fields.get(i).shape()
                        + " for each of " + batch + " examples");
            }
        }
    }

    private static boolean fits(VarType.TensorType type, Field field, int batch) {
        List<Long> dims = type.dims();
        boolean fits = type.dtype() == field.dtype() && dims.size() == field.shape().rank() + 1
                && fits(dims.getFirst(), batch);
        for (int i = 1; fits && i < dims.size(); i++) {
            fits = fits(dims.get(i), field.shape().dim(i - 1));
        }
        return fits;
    }

    private static boolean fits(long wanted, long given) {
        return wanted < 0 || wanted == given;
    }

    /** Returns the declared type of a feed, or null if the program does not request a check. */
    private VarType.@Nullable TensorType type(String feed) {
        VarDesc desc = model.main().global().find(feed);
        return desc != null && Boolean.TRUE.equals(desc.needCheckFeed()) ? desc.type().tensorType() : null;
    }
}
