"""Workers look for pending orders several times a second: of all the orders there ever were, these have an index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_search")]
    operations = [
        migrations.AddIndex(
            model_name="order",
            index=models.Index(condition=models.Q(("state", "pending")), fields=["run"], name="order_pending"),
        ),
    ]
