package app;

import io.seriatim.train.Model;
import io.seriatim.train.TablePredictor;
import io.seriatim.train.Trainer;
import io.seriatim.train.data.TableData;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.model.Recipe;
import io.seriatim.train.model.TableMlp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Learns the column {@code travels} of a table, saves the model, and asks it: {@code TrainTable travel.csv FOLDER}. */
final class TrainTable {
    public static void main(String[] args) throws IOException {
        Path model = Path.of(args[1], "travel.json");
        TableData.Examples rows = TableData.csv(Path.of(args[0])).category("city").number("distance")
                .label("travels").read();
        TableMlp network = new TableMlp(rows.encoding());
        Recipe recipe = network.recipe();
        Model learner = network.build(recipe, recipe.steps(rows.split().training().size()));
        Trainer trainer = Trainer.of(learner, rows.split()).batch(recipe.batch()).epochs(recipe.epochs()).build();
        trainer.run();
        trainer.saveAs(model);
        rows.encoding().save(model.resolveSibling(TableEncoding.FILE));
        try (TablePredictor predictor = TablePredictor.load(model)) {
            System.out.println("Ghent, 4 km: " + predictor.predict(Map.of("city", "Ghent", "distance", "4")).label());
            System.out.println("Bern, 14 km: " + predictor.predict(Map.of("city", "Bern", "distance", "14")).label());
        }
    }
}
