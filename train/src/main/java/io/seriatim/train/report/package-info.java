/** The report of a training, a page that needs nothing but a browser. */
@NullMarked
package io.seriatim.train.report;

import org.jspecify.annotations.NullMarked;
