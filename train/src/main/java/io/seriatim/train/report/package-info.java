/** The report of a training, a self-contained HTML page. */
@NullMarked
package io.seriatim.train.report;

import org.jspecify.annotations.NullMarked;
