package office;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.dropwizard.core.Configuration;
import io.dropwizard.db.DataSourceFactory;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;

public class Settings extends Configuration {
    @Valid
    @NotNull
    @JsonProperty
    DataSourceFactory database = new DataSourceFactory();
}
